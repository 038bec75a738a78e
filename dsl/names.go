package dsl

import (
	"fmt"
	"slices"
	"strings"
)

// names looks up everything that refers to another line of the file.
func (c *checker) names() {
	used := c.letNames()
	c.cycles()
	c.maybeNames()
	for _, n := range c.named {
		if !c.clients[n.name] && !c.mentioned[n.name] {
			hint := ""
			if c.suggesting() {
				hint = didYouMean(n.name, c.script.Clients, "")
			}
			c.fault(CodeUnknownClient, n.at, "no client "+quote(n.name)+" acts in this file", "", hint)
		}
	}
	c.serversExist()
	c.unusedLets(used)
}

// letNames checks that every name in an expression is a let that is visible there, and tells which are used.
func (c *checker) letNames() map[string]bool {
	used := map[string]bool{}
	top := c.scopes[0]
	topNames := letsIn(top)
	for _, r := range c.refs {
		used[r.name] = true
		named := r.scope.maybes[r.name] != nil || top.maybes[r.name] != nil
		if r.scope.lets[r.name] != nil || top.lets[r.name] != nil || r.maybe && named || c.mentioned[r.name] {
			continue
		}
		if named {
			c.fault(CodeUnknownName, r.at, quote(r.name)+" is a line, and no number", "Only `where` asks whether a line is there: 1, or 0 if it is not.", "")
			continue
		}
		detail, hint := "", "define it: `let "+r.name+" = …`"
		if c.suggesting() {
			near := nearestOf(r.name, r.also, letsIn(r.scope), topNames)
			if near != "" {
				used[near] = true // or the let that was meant would look unused
				hint = "did you mean `" + near + "`?"
			}
			if line := c.elsewhere(r.name); line > 0 {
				detail = fmt.Sprintf("Line %d defines it inside a block; only that block sees it.", line)
			}
		}
		c.fault(CodeUnknownName, r.at, "nothing is called "+quote(r.name), detail, hint)
	}
	return used
}

// maxSuggestions is for how many unknown names of a file the nearest one is looked for. The search compares every name
// with every other one, and nobody reads so many suggestions.
const maxSuggestions = 100

// suggesting tells whether one more suggestion may be looked for.
func (c *checker) suggesting() bool {
	c.suggestions++
	return c.suggestions <= maxSuggestions
}

func letsIn(sc *scope) []string {
	names := make([]string, len(sc.body.Lets))
	for i, l := range sc.body.Lets {
		names[i] = l.Name
	}
	return names
}

// elsewhere gives the line of a let in any block, or 0.
func (c *checker) elsewhere(name string) int {
	for _, sc := range c.scopes[1:] {
		if l := sc.lets[name]; l != nil {
			return l.Span.Start.Line
		}
	}
	return 0
}

// maxCycleVisits bounds the walks over lets, which start anew in every block. The compiler meets a circle that is
// overlooked here.
const maxCycleVisits = 1_000_000

// cycles finds lets whose formulas lead back to themselves, at the top level and in every block that changes a let.
func (c *checker) cycles() {
	uses := map[*Let][]string{}
	for _, sc := range c.scopes {
		for _, l := range sc.body.Lets {
			uses[l] = refNames(l.Expr, nil)
		}
	}
	said := map[*Let]bool{}
	budget := maxCycleVisits
	for _, sc := range c.scopes {
		if len(sc.body.Lets) == 0 {
			continue
		}
		w := &cycleWalk{c: c, scope: sc, uses: uses, state: map[*Let]uint8{}, said: said, budget: &budget}
		for _, l := range sc.body.Lets {
			w.visit(l)
		}
	}
}

// cycleWalk is a depth-first walk over lets as one scope sees them.
type cycleWalk struct {
	c      *checker
	scope  *scope
	uses   map[*Let][]string
	state  map[*Let]uint8 // 1: on the path, 2: done
	path   []*Let
	said   map[*Let]bool // reported, perhaps by another scope
	budget *int
}

func (w *cycleWalk) visit(l *Let) {
	if *w.budget--; *w.budget < 0 {
		return
	}
	w.state[l] = 1
	w.path = append(w.path, l)
	for _, name := range w.uses[l] {
		next := w.scope.lets[name]
		if next == nil {
			next = w.c.scopes[0].lets[name]
		}
		switch {
		case next == nil || w.state[next] == 2:
		case w.state[next] == 1:
			w.report(next)
		default:
			w.visit(next)
		}
	}
	w.path = w.path[:len(w.path)-1]
	w.state[l] = 2
}

// report notes the cycle that ends the path, once, at its first line.
func (w *cycleWalk) report(back *Let) {
	if w.said[back] {
		return
	}
	w.said[back] = true
	cycle := w.path[slices.Index(w.path, back):]
	if slices.ContainsFunc(cycle[1:], func(l *Let) bool { return w.said[l] }) {
		return
	}
	first := 0
	for i, l := range cycle {
		w.said[l] = true
		if l.Span.Start.Offset < cycle[first].Span.Start.Offset {
			first = i
		}
	}
	const most = 6 // names shown: a longer way round tells no more
	var way []string
	for i := range min(len(cycle), most) {
		way = append(way, cycle[(first+i)%len(cycle)].Name)
	}
	if len(cycle) > most {
		way = append(way, "…")
	}
	way = append(way, cycle[first].Name)
	w.c.fault(CodeLetCycle, cycle[first].Span, "the let "+quote(cycle[first].Name)+" goes round in a circle", strings.Join(way, " → ")+".", "give one of them a number")
}

// refNames adds the names of the lets in an expression.
func refNames(e Expr, names []string) []string {
	switch e := e.(type) {
	case *Ref:
		if !e.Setting {
			names = append(names, e.Name)
		}
	case *Unary:
		names = refNames(e.X, names)
	case *Binary:
		names = refNames(e.Y, refNames(e.X, names))
	case *Call:
		for _, a := range e.Args {
			names = refNames(a, names)
		}
	case *Any:
		for _, it := range e.Hole.Items {
			names = refNames(it.Hi, refNames(it.Lo, names))
		}
		names = refNames(e.Hole.Step, names)
	}
	return names
}

// serversExist compares the lists of servers with the number of servers where they are used, as far as that is
// written out.
func (c *checker) serversExist() {
	top := c.scopes[0]
	fewest := map[*scope]int64{}
	for _, sc := range c.scopes {
		if n, ok := literalServers(sc, top, c.lostServers); ok {
			fewest[sc] = n
		}
	}
	if len(c.scopes) > 1 {
		// A line at the top level is run by every block, and must fit the one with the fewest servers.
		delete(fewest, top)
		for _, sc := range c.scopes[1:] {
			if n, ok := fewest[sc]; ok && (fewest[top] == 0 || n < fewest[top]) {
				fewest[top] = n
			}
		}
	}
	for _, r := range c.ranges {
		n, known := fewest[r.scope]
		if known && int64(r.servers.Hi) > n && r.servers.Lo <= r.servers.Hi {
			c.fault(CodeServerBeyond, r.servers.Span, fmt.Sprintf("there is no server s%d", r.servers.Hi), fmt.Sprintf("There are %d servers here.", n), fmt.Sprintf("name s1 to s%d, or set `servers %d`", n, r.servers.Hi))
		}
	}
}

// literalServers gives the number of servers in a scope if the file says it as a plain number and no sweep changes it.
// The default counts unless the line that sets the number was lost to a fault.
func literalServers(sc, top *scope, lost bool) (int64, bool) {
	const byDefault = 5
	if sc.block != nil && slices.ContainsFunc(sc.block.Axes, func(a *Axis) bool { return a.Name == "servers" }) {
		return 0, false
	}
	for _, at := range [...]*scope{sc, top} {
		if s := at.settings["servers"]; s != nil {
			n, ok := s.Value.Expr.(*Num)
			if !ok {
				return 0, false
			}
			return n.Value, true
		}
	}
	return byDefault, !lost
}

// unusedLets suspects lets that nothing reads.
func (c *checker) unusedLets(used map[string]bool) {
	for _, sc := range c.scopes {
		for _, l := range sc.body.Lets {
			if !used[l.Name] && !c.mentioned[l.Name] {
				at := l.Span
				c.fault(CodeUnusedLet, at, "nothing uses the let "+quote(l.Name), "", "delete it, or use it")
			}
		}
	}
}
