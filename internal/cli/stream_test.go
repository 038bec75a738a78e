package cli

import "testing"

func TestColours(t *testing.T) {
	type env map[string]string
	tests := []struct {
		name     string
		flag     string
		env      env
		terminal bool
		want     bool
	}{
		{"a pipe", "auto", nil, false, false},
		{"a terminal", "auto", nil, true, true},
		{"always beats everything", "always", env{"NO_COLOR": "1", "TERM": "dumb", "CLICOLOR": "0"}, false, true},
		{"never beats everything", "never", env{"CLICOLOR_FORCE": "1", "FORCE_COLOR": "1"}, true, false},
		{"NO_COLOR beats force", "auto", env{"NO_COLOR": "1", "CLICOLOR_FORCE": "1", "FORCE_COLOR": "1"}, true, false},
		{"an empty NO_COLOR says nothing", "auto", env{"NO_COLOR": ""}, true, true},
		{"CLICOLOR_FORCE", "auto", env{"CLICOLOR_FORCE": "1"}, false, true},
		{"CLICOLOR_FORCE=0 forces nothing", "auto", env{"CLICOLOR_FORCE": "0"}, false, false},
		{"FORCE_COLOR", "auto", env{"FORCE_COLOR": "1"}, false, true},
		{"FORCE_COLOR=0 forces nothing", "auto", env{"FORCE_COLOR": "0"}, false, false},
		{"force beats CLICOLOR=0", "auto", env{"CLICOLOR": "0", "FORCE_COLOR": "1"}, false, true},
		{"force beats a dumb terminal", "auto", env{"TERM": "dumb", "CLICOLOR_FORCE": "1"}, false, true},
		{"CLICOLOR=0", "auto", env{"CLICOLOR": "0"}, true, false},
		{"CLICOLOR=1 colours no pipe", "auto", env{"CLICOLOR": "1"}, false, false},
		{"a dumb terminal", "auto", env{"TERM": "dumb"}, true, false},
	}
	for _, tt := range tests {
		lookup := func(name string) (string, bool) { v, ok := tt.env[name]; return v, ok }
		if got := colours(tt.flag, lookup, tt.terminal); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
