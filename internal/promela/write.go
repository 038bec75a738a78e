package promela

import (
	"fmt"
	"strings"
	"unicode"

	"dlock/engine"
)

// head says what the model is and how to run it. %s: title, members, the command's options for the C compiler and pan, claims.
const head = `/* %s
 *
 * A run of the process below is one member of the family, and each member is a run. What is open in it:
%s * A claim is violated if and only if some member breaks that law. To ask about one law after the other:
 *
 *   spin -a FILE
 *   gcc -O2 -DSAFETY -DNOREDUCE%[3]s -o pan pan.c
 *   ./pan -m%[4]d -N stale_write
 *
 * The claims are %[5]s.
 * With spin -DLAW=STALE_WRITE -a FILE the model has that law only and fewer states; then it is ./pan -m%[4]d without -N.
 * After an error spin -t FILE (with the same -DLAW) shows the member that it was found in.
 *
 * How many members break a law, which of them is the smallest, and the texts that are written are not in the model.
 */

`

func (m *model) printf(format string, args ...any) { fmt.Fprintf(&m.out, format, args...) }

// write writes the model once all slices are known.
func (m *model) write() {
	m.head()
	m.names()
	m.out.WriteString(world)
	m.schedule()
	m.process()
	m.claims()
}

func (m *model) head() {
	var claims []string
	for _, l := range Laws() {
		claims = append(claims, Claim(l))
	}
	var chosen []string
	if m.family.Slices > 1 {
		chosen = append(chosen, fmt.Sprintf("one of %d combinations of what is chosen at the start", m.family.Slices))
	}
	if len(m.holes) > 0 {
		chosen = append(chosen, "the tick of every line that waits for a hole, decided when it comes")
	}
	if m.ties {
		chosen = append(chosen, "in each tick, who goes next")
	}
	if chosen == nil {
		chosen = append(chosen, "nothing")
	}
	what := ""
	for _, c := range chosen {
		what += " *   " + c + "\n"
	}
	options := ""
	if v := m.vector(); v > defaultVector {
		options = fmt.Sprintf(" -DVECTORSZ=%d", v)
	}
	m.printf(head, plain(m.family.Title), what, options, m.depth(), strings.Join(claims[:4], ", ")+",\n * "+strings.Join(claims[4:], ", "))
}

// plain makes a text fit for a comment.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	return strings.ReplaceAll(strings.ReplaceAll(s, "*/", "* /"), "/*", "/ *")
}

// defaultVector is how many bytes of a state pan has room for unless it is told otherwise.
const defaultVector = 1024

// vector is an upper bound of the bytes of a state.
func (m *model) vector() int {
	servers := m.settings.Servers
	n := 64 + 4*(3*len(m.order)+6*len(m.clients)+3*servers+2*len(m.holes)) + len(m.clients)*servers*4 + len(m.actors)
	v := defaultVector
	for v < n {
		v *= 2
	}
	return v
}

// depth is an upper bound of the steps that pan makes on one run: for every turn and every value of a hole that is passed
// over, the few of the process and as many of the claim.
func (m *model) depth() int64 {
	rounds := m.size.turns + 8
	for _, h := range m.holes {
		rounds += int64(h.N)
	}
	return min(rounds*int64(2*(8+3*len(m.holes)))+2*m.family.Slices, maxDepth)
}

// maxDepth bounds what pan is told, since it takes some 50 bytes for each step before it begins. If it is too little, pan says so.
const maxDepth = 100_000_000

// names writes what differs from family to family as macros.
func (m *model) names() {
	s := &m.settings
	m.printf("/* ---- The family ---- */\n\n")
	switch {
	case m.places || s.Servers == 1:
		m.printf("#define SERVERS %d\n#define QUORUM %d\n", s.Servers, s.Quorum)
	default:
		m.printf("/* %d servers with a quorum of %d. Nothing tells them apart, so each gives the same answers: one stands for all of them,\n", s.Servers, s.Quorum)
		m.printf("   unless spin is told -DSERVERS=%d -DQUORUM=%d. */\n", s.Servers, s.Quorum)
		m.printf("#ifndef SERVERS\n#define SERVERS 1\n#define QUORUM 1\n#endif\n")
	}
	m.printf("#define FENCING %d /* 0: off, 1: on, STRICT */\n#define STRICT 2\n", s.Fencing)
	m.printf("#define FENCE_AT %d\n#define AT_WRITE 0\n#define AT_READ 1\n#define AT_GRANT 2\n", s.FenceAt)
	m.printf("#define HANDBACK %d /* of the votes of a failed attempt; 0: off */\n", flag(s.Handback != engine.HandbackOff))
	m.printf("#define ORDERED %d /* 1: one log numbers the grants, 0: each server counts its votes */\n", flag(s.Tokens == engine.TokensOrdered))
	m.printf("#define OWNER_CHECK %d\n", flag(s.OwnerCheck))
	m.printf("#define HORIZON %d /* nobody asks again after it */\n", min(s.Horizon, forever))
	tick, never := width(int64(m.last()))
	m.printf("#define tick %s\n#define NEVER %d\n", tick, never)
	most := m.size.turns + 1
	for _, h := range m.holes {
		most = max(most, int64(h.N))
	}
	num, _ := width(most)
	m.printf("#define num %s\n", num)
	steps := int64(len(m.order))
	place, _ := width(steps * (steps + 2))
	m.printf("#define place %s\n", place)
	m.printf("#define PAUSES %d\n#define IF_VALID %d\n#define GUARD_VERSION %d\n#define SERVERS_FAIL %d\n#define RETRIES %d\n",
		flag(m.uses.pauses), flag(m.uses.valid), flag(m.uses.guardVersion), flag(m.uses.serversFail), len(m.retries))

	m.printf("\n#define CLIENTS %d\n", len(m.clients))
	for i, c := range m.clients {
		m.printf("#define %s %d\n", clientName(c), i)
	}
	m.printf("\n#define STEPS %d\n", len(m.order))
	for i, l := range m.order {
		m.printf("#define L%d %d /* line %d: %s */\n", l.number, i, l.number, l.says)
	}
	for i, r := range m.retries {
		m.printf("#define R%d %d\n", r, i)
	}
	m.printf("\n#define ACTORS %d\n", len(m.actors))
	if m.ties {
		for i, a := range m.actors {
			m.printf("/* %d: %s */\n", i, m.actorName(a))
		}
	}
	if len(m.holes) > 0 {
		m.printf("\n#define HOLES %d\n", len(m.holes))
		for i, h := range m.holes {
			name := ""
			if i < len(m.family.Holes) {
				name = plain(m.family.Holes[i]) + ": "
			}
			m.printf("/* %d: %s%d values, %d apart */\n", i, name, h.N, h.By)
		}
		m.printf("bool open[HOLES] = true; /* it is not decided yet */\nnum value[HOLES];        /* the first value that is not ruled out, counted from 0 */\n")
	}
	if m.family.Slices > 1 {
		m.printf("\nshort slice; /* what was chosen at the start */\n")
		for i := int64(0); m.family.Label != nil && i < m.family.Slices; i++ {
			m.printf("/* %d: %s */\n", i, plain(m.family.Label(i)))
		}
	}
	m.printf("\n")
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// width gives the narrowest type for numbers up to most, and its largest number, which is more.
func width(most int64) (string, int64) {
	switch {
	case most < 1<<8-1:
		return "byte", 1<<8 - 1
	case most < 1<<15-1:
		return "short", 1<<15 - 1
	}
	return "int", int64(forever)
}

// pick writes the text of each slice: plainly if there is one only.
func (v *variants) pick(slices int64) string {
	if len(v.texts) == 1 && int64(len(v.slices[0])) == slices {
		return v.texts[0]
	}
	var b strings.Builder
	b.WriteString("if\n")
	for i, t := range v.texts {
		fmt.Fprintf(&b, ":: %s ->\n%s\n", among(v.slices[i]), indent(t, 1))
	}
	b.WriteString(":: else\nfi")
	return b.String()
}

// among is true for the given slices.
func among(list []int64) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if list[i] == list[j] {
			parts = append(parts, fmt.Sprintf("slice == %d", list[i]))
		} else {
			parts = append(parts, fmt.Sprintf("(slice >= %d && slice <= %d)", list[i], list[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, " || ")
}

// schedule writes what the lines do.
func (m *model) schedule() {
	m.printf("/* The lines that are scheduled by themselves. */\ninline start() {\n")
	if m.uses.pauses {
		m.printf("  for (ln : 0 .. STEPS - 1) { key[ln] = ln * ROOM }\n")
	}
	for _, l := range m.order {
		if len(l.starts.texts) > 0 {
			m.printf("%s;\n", strings.TrimSuffix(indent(l.starts.pick(m.family.Slices), 1), ";"))
		}
	}
	m.printf("  skip\n}\n\n")

	for _, c := range m.crashes {
		m.printf("inline gone_%s() {\n", m.clients[c])
		for _, l := range m.order {
			if l.client == c {
				m.printf("  due[L%d] = NEVER;\n", l.number)
			}
		}
		m.printf("  skip\n}\n\n")
	}

	if m.uses.pauses {
		m.printf("/* What a pause holds up now. A crash takes effect all the same. */\ninline hold_up() {\n")
		for c, name := range m.clients {
			if !m.paused(int32(c)) {
				continue
			}
			m.printf("  do\n  :: until[%s] > now ->\n    chosen = 0;\n", clientName(name))
			for _, l := range m.order {
				if l.client == int32(c) && l.verb != engine.Crash {
					m.printf("    held_up(L%d);\n", l.number)
				}
			}
			m.printf("    if :: chosen == 0 -> break :: else -> put_off(%s) fi\n  :: else -> break\n  od;\n", clientName(name))
		}
		m.printf("  skip\n}\n\n")
	}

	m.printf("/* Who has work in this tick")
	if !m.ties {
		m.printf("; ties are closed, so the lines of all actors are one list")
	}
	m.printf(". */\ninline turns() {\n")
	for _, l := range m.order {
		v := variants{slices: l.actor.slices}
		for _, id := range l.actor.texts {
			v.texts = append(v.texts, fmt.Sprintf("turn(%d, L%d);", m.place(id), l.number))
		}
		m.printf("%s;\n", strings.TrimSuffix(indent(v.pick(m.family.Slices), 1), ";"))
	}
	m.printf("  skip\n}\n\n")

	// A d_step for each text, since Spin limits how long one may be.
	m.printf("/* What the line does whose turn it is. */\ninline work() {\n  if\n")
	for _, l := range m.order {
		for i, text := range l.parts.texts {
			when := ""
			if int64(len(l.parts.slices[i])) < m.family.Slices {
				when = " && (" + among(l.parts.slices[i]) + ")"
			}
			m.printf("  :: d_step { pick == L%d + 1%s -> printf(\"tick %%d, line %d: %s\\n\", now);\n%s;\n    pick = 0 }\n",
				l.number, when, l.number, l.says, indent(text, 2))
		}
	}
	m.printf("  :: else /* all of it was put off */\n  fi\n}\n\n")
}

func (m *model) paused(client int32) bool {
	for _, l := range m.order {
		if l.client == client && l.verb == engine.Pause {
			return true
		}
	}
	return false
}

// place is an actor's place in the list of actors.
func (m *model) place(id string) int {
	for i, a := range m.actors {
		if fmt.Sprint(a) == id {
			return i
		}
	}
	return 0
}

func (m *model) actorName(a int32) string {
	switch clients := int32(len(m.clients)); {
	case a < clients:
		return m.clients[a]
	case a == clients:
		return "the resource"
	default:
		return fmt.Sprintf("what befalls servers, from s%d on", a-clients)
	}
}

// process writes the process whose runs are the members.
func (m *model) process() {
	m.printf("active proctype world() {\n")
	if m.family.Slices > 1 {
		m.printf("  select (slice : 0 .. %d);\n", m.family.Slices-1)
	}
	m.printf("  atomic { start() };\n  do\n  :: atomic {\n    move_on();\n    if :: now == NEVER -> break :: else fi;\n")
	for i, h := range m.holes {
		m.hole(i, h)
	}
	if m.uses.pauses {
		m.printf("    d_step { hold_up() };\n")
	}
	m.printf("    d_step { turns() };\n    if\n")
	for i := range m.actors {
		m.printf("    :: first[%d] -> pick = first[%d]\n", i, i)
	}
	m.printf("    :: else\n    fi;\n    d_step { taken_up() };\n    work()\n")
	m.printf("#ifdef LAW\n    ; assert(broken == 0)\n#endif\n    }\n  od\n}\n\n")
}

// hole writes the choice of a hole: if a line that waits for it is due at its first open value, that is it, or a later one is.
func (m *model) hole(i int, h engine.Hole) {
	w := &m.waiting[i]
	if len(w.lines) == 0 {
		return // it may be any value: nothing differs
	}
	var due []string
	later := fmt.Sprintf("value[%d]++", i)
	for _, l := range w.lines {
		due = append(due, fmt.Sprintf("due[L%d] == now", l))
		later += fmt.Sprintf("; postpone(L%d, %d)", l, h.By)
	}
	forget := ""
	if !w.many {
		forget = fmt.Sprintf("; value[%d] = 0", i) // no line that comes later asks for it
	}
	m.printf("    if\n    :: open[%d] && (%s) ->\n      if\n      :: d_step { open[%d] = false%s }\n", i, strings.Join(due, " || "), i, forget)
	if h.N > 1 {
		m.printf("      :: d_step { value[%d] < %d -> %s }\n", i, h.N-1, later)
	}
	m.printf("      fi\n    :: else\n    fi;\n")
}

// claims writes a claim for each law.
func (m *model) claims() {
	m.printf("/* ---- The laws ---- */\n\n#ifndef LAW\n")
	for _, l := range Laws() {
		m.printf("ltl %s { [] ((broken & %s) == 0) }\n", Claim(l), strings.ToUpper(Claim(l)))
	}
	m.printf("#endif\n")
}
