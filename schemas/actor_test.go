package schemas

import (
	"reflect"
	"strings"
	"testing"
)

func TestActor(t *testing.T) {
	for _, c := range []struct {
		actor Actor
		text  string
		kind  ActorKind
		parts string
	}{
		{Actor{}, "", "", ""},
		{Person("", ""), "person", ActorPerson, ""},
		{Person("terminal", "terminal"), "person/terminal", ActorPerson, "terminal terminal"},
		{Person("prompt", "pattern"), "person/prompt/pattern", ActorPerson, "prompt pattern"},
		{Agent("claude", "", ""), "agent/claude", ActorAgent, "claude"},
		{Agent("claude", "s.1", "w/2"), "agent/claude/s=2E1/w=2F2", ActorAgent, "claude s.1 w/2"},
		{Agent("writ", "", "dev"), "agent/writ/=/dev", ActorAgent, "writ dev"},
		{Writ("pruning"), "writ/pruning", ActorWrit, "pruning"},
		{Import("memory"), "import/memory", ActorImport, "memory"},
		// Older logs.
		{ParseActor("user"), "user", ActorPerson, ""},
		{ParseActor("host"), "host", ActorAgent, ""},
		{ParseActor("reflection"), "reflection", ActorWrit, "reflection"},
		{ParseActor("agent smith"), "agent smith", ActorAgent, "agent smith"},
		{ParseActor("writ/a/b"), "writ/a/b", ActorAgent, "writ/a/b"},
		{ParseActor("agent/claude/="), "agent/claude/=", ActorAgent, "agent/claude/="},
		{ParseActor("person/"), "person/", ActorAgent, "person/"},
	} {
		if c.actor.String() != c.text || c.actor.Kind() != c.kind || strings.Join(partsOf(c.actor), " ") != c.parts {
			t.Errorf("%q is a %s of %q, want %q, a %s of %q", c.actor, c.actor.Kind(), partsOf(c.actor), c.text, c.kind, c.parts)
		}
		if again := ParseActor(c.text); again != c.actor {
			t.Errorf("%q is read as %q", c.text, again)
		}
	}
}

func partsOf(a Actor) (known []string) {
	channel, assurance := a.Person()
	host, session, subagent := a.Agent()
	for _, p := range []string{channel, assurance, host, session, subagent, a.Part(), a.From()} {
		if p != "" {
			known = append(known, p)
		}
	}
	return known
}

// An event of an older log is written back as it was read, and keeps its place
// in the log's Merkle tree.
func TestActorOfOlderLogs(t *testing.T) {
	for _, word := range []string{"user", "person", "agent", "host", "client", "agent smith", "100%", "ü/=", ""} {
		e := sampleEvent("mode.changed")
		e.Actor = ParseActor(word)
		stored, err := Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		if want := escapeAttribute(word); stored.Header.Get(HeaderActor) != want {
			t.Errorf("%q is written %q, want %q", word, stored.Header.Get(HeaderActor), want)
		}
		read, err := Decode(stored)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Encode(read[0]); err != nil || !reflect.DeepEqual(again, stored) {
			t.Errorf("%q is written back as %v, %v", word, again.Header, err)
		}
	}
}

func FuzzActor(f *testing.F) {
	f.Add("terminal", "", "")
	f.Add("agent/claude/=", "a/b", "=2F")
	f.Fuzz(func(t *testing.T, one, two, three string) {
		for _, text := range []string{one, "agent/" + two, "person/" + one + "/" + two} {
			a := ParseActor(text)
			if a.String() != text || text != "" && a.Kind() == "" {
				t.Fatalf("%q is read as %q, a %q", text, a, a.Kind())
			}
		}
		if host, session, subagent := ParseActor(Agent(one, two, three).String()).Agent(); host != one || session != two || subagent != three {
			t.Fatalf("%q %q %q is read as %q %q %q", one, two, three, host, session, subagent)
		}
		if channel, assurance := ParseActor(Person(one, two).String()).Person(); channel != one || assurance != two && two != "" {
			t.Fatalf("%q %q is read as %q %q", one, two, channel, assurance)
		}
		if part, from := Writ(one).Part(), Import(one).From(); part != one || from != one {
			t.Fatalf("%q is read as %q and %q", one, part, from)
		}
	})
}
