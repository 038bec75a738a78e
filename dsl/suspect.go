package dsl

// suspicions finds what runs and may not mean what its writer thinks.
func (c *checker) suspicions() {}
