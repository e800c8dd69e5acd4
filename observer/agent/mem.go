package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/book"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/schemas"
)

// mem answers /mem. Notes are an agent's own or shared; entries are the
// workspace's, for all agents in it.
func (b *Books) mem(ctx context.Context, call verbs.Call) (verbs.Result, error) {
	own, shared := schemas.NoteBook(call.Workspace, call.Agent), schemas.NoteBook(call.Workspace, "")
	switch call.Sub {
	case "write":
		return b.writeNote(ctx, call, own, "your notes")
	case "shared write":
		return b.writeNote(ctx, call, shared, "the shared notes")
	case "clear":
		return b.clearNotes(ctx, call, own, "your notes")
	case "shared clear":
		return b.clearNotes(ctx, call, shared, "the shared notes")
	case "read":
		return b.showNotes(ctx, call, own, false)
	case "shared read":
		return b.showNotes(ctx, call, shared, false)
	case "show":
		return b.showNotes(ctx, call, own, true)
	case "shared show":
		return b.showNotes(ctx, call, shared, true)
	case "entries", "entry", "search", "expand", "density":
		return b.readEntries(ctx, call, shared, own)
	case "add entry":
		return b.addEntry(ctx, call, shared)
	case "add link":
		return b.addLink(ctx, call, shared)
	case "invalidate":
		return b.invalidate(ctx, call, shared)
	default:
		return verbs.Err("/mem "+call.Args+" names no sub-verb", "/help mem shows them"), nil
	}
}

// writeNote depends on nothing in the book: notes of many agents do not hinder
// each other.
func (b *Books) writeNote(ctx context.Context, call verbs.Call, a schemas.Aggregate, where string) (verbs.Result, error) {
	if r, bad := wants(call, 1, "/mem "+call.Sub+" TEXT"); bad {
		return r, nil
	}
	d, err := book.Decide(book.State{}, schemas.NoteWritten{Text: call.Rest, Agent: call.Agent, Run: call.Run})
	if err == nil {
		err = record(ctx, b.Log, entry(a, caller(call)), d.Record)
	}
	return answered(err, verbs.OK("%s to %s", d.Message, where))
}

func (b *Books) clearNotes(ctx context.Context, call verbs.Call, a schemas.Aggregate, where string) (verbs.Result, error) {
	if r, bad := wants(call, 0, "/mem "+call.Sub); bad {
		return r, nil
	}
	return b.change(ctx, call, noteView, a, schemas.NotesCleared{Agent: call.Agent, Run: call.Run}, " of "+where)
}

// showNotes lists notes, the latest first: what is cut is the oldest.
func (b *Books) showNotes(ctx context.Context, call verbs.Call, a schemas.Aggregate, whole bool) (verbs.Result, error) {
	if r, bad := wants(call, 0, "/mem "+call.Sub); bad {
		return r, nil
	}
	books := []schemas.Aggregate{a}
	if whole {
		books = append(books, schemas.NoteBook(call.Workspace, ""))
	}
	states, err := b.read(ctx, noteView, books...)
	if err != nil {
		return verbs.Result{}, err
	}
	var out strings.Builder
	for _, n := range slices.Backward(states[0].Notes()) {
		fmt.Fprintf(&out, "- %s %s: %s\n", n.Time.UTC().Format("2006-01-02 15:04"), n.Agent, n.Text)
	}
	for _, s := range states[1:] {
		for _, e := range slices.Backward(s.Entries()) {
			out.WriteString(entryLine(e))
		}
	}
	if out.Len() == 0 {
		return nothing("notes"), nil
	}
	return kept(out.String()), nil
}

func entryLine(e book.Item) string {
	gone := ""
	if e.Status == book.Invalid {
		gone = " (no longer true)"
	}
	return fmt.Sprintf("- %s %s: %s%s\n", e.ID, e.Kind, e.Title, gone)
}

func (b *Books) addEntry(ctx context.Context, call verbs.Call, shared schemas.Aggregate) (verbs.Result, error) {
	kind, title := cutWord(call.Rest)
	title = line(title)
	if title == "" {
		return verbs.Err("an entry needs a type and a title", "write /mem add entry TYPE TITLE, its text, and /endentry"), nil
	}
	added := schemas.EntryAdded{Kind: kind, Title: title, Text: string(call.Body), Agent: call.Agent, Run: call.Run}
	return b.change(ctx, call, noteView, shared, added, "")
}

func (b *Books) addLink(ctx context.Context, call verbs.Call, shared schemas.Aggregate) (verbs.Result, error) {
	words := strings.Fields(call.Rest)
	if len(words) < 2 || len(words) > 3 || words[0] == words[1] {
		return verbs.Err("/mem add link needs two entries", "write /mem add link FROM TO [KIND]"), nil
	}
	kind := "related"
	if len(words) == 3 {
		kind = words[2]
	}
	linked := schemas.EntriesLinked{From: words[0], To: words[1], Kind: kind, Agent: call.Agent, Run: call.Run}
	return b.change(ctx, call, noteView, shared, linked, "")
}

func (b *Books) invalidate(ctx context.Context, call verbs.Call, shared schemas.Aggregate) (verbs.Result, error) {
	id, rest := cutWord(call.Rest)
	if id == "" || rest != "" {
		return verbs.Err("/mem invalidate needs one entry", "write /mem invalidate ID"), nil
	}
	return b.change(ctx, call, noteView, shared, schemas.EntryInvalidated{EntryID: id, Agent: call.Agent, Run: call.Run}, "")
}

// readEntries answers the sub-verbs that only look at entries.
func (b *Books) readEntries(ctx context.Context, call verbs.Call, shared, own schemas.Aggregate) (verbs.Result, error) {
	states, err := b.read(ctx, noteView, own, shared)
	if err != nil {
		return verbs.Result{}, err
	}
	entries := states[1].Entries()
	switch call.Sub {
	case "entries":
		return listEntries(call, entries), nil
	case "entry", "expand":
		return showEntry(call, entries), nil
	case "density":
		return density(call, entries), nil
	default:
		seq, notes := max(states[0].Seq, states[1].Seq), append(states[0].Notes(), states[1].Notes()...)
		return b.searchEntries(ctx, call, "mem "+own.ID, seq, entries, notes)
	}
}

func listEntries(call verbs.Call, entries []book.Item) verbs.Result {
	kind, rest := cutWord(call.Rest)
	if rest != "" {
		return verbs.Err("/mem entries takes one type", "write /mem entries [TYPE]")
	}
	var out strings.Builder
	for i := len(entries) - 1; i >= 0; i-- {
		if kind == "" || entries[i].Kind == kind {
			out.WriteString(entryLine(entries[i]))
		}
	}
	if out.Len() == 0 {
		return nothing(strings.TrimSpace("entries " + kind))
	}
	return kept(out.String())
}

func showEntry(call verbs.Call, entries []book.Item) verbs.Result {
	id, rest := cutWord(call.Rest)
	if id == "" || rest != "" {
		return verbs.Err("/mem "+call.Sub+" needs one entry", "write /mem "+call.Sub+" ID")
	}
	byID := map[string]book.Item{}
	for _, e := range entries {
		byID[e.ID] = e
	}
	e, found := byID[id]
	if !found {
		return verbs.Err("there is no entry "+id, "/mem entries lists them")
	}
	var out strings.Builder
	out.WriteString(entryLine(e) + indented(e.Text))
	for _, l := range e.Links {
		other, arrow := l.To, "→"
		if l.To == id {
			other, arrow = l.From, "←"
		}
		linked := byID[other]
		fmt.Fprintf(&out, "%s %s %s", arrow, l.Kind, strings.TrimPrefix(entryLine(linked), "- "))
		if call.Sub == "expand" {
			out.WriteString(indented(linked.Text))
		}
	}
	return kept(out.String())
}

// density says how well entries are linked.
func density(call verbs.Call, entries []book.Item) verbs.Result {
	if r, bad := wants(call, 0, "/mem density"); bad {
		return r
	}
	links, ends := map[book.Link]bool{}, 0
	var lonely []string
	for _, e := range entries {
		for _, l := range e.Links {
			links[l] = true
		}
		ends += len(e.Links)
		if len(e.Links) == 0 {
			lonely = append(lonely, e.ID)
		}
	}
	if len(entries) == 0 {
		return nothing("entries")
	}
	text := fmt.Sprintf("%d entries, %d links, %.2f per entry", len(entries), len(links), float64(ends)/float64(len(entries)))
	if len(lonely) > 0 {
		text += fmt.Sprintf("; %d without a link: %s", len(lonely), strings.Join(lonely[:min(len(lonely), 20)], ", "))
		if len(lonely) > 20 {
			text += " and more"
		}
	}
	return verbs.OK("%s", text)
}

func (b *Books) searchEntries(ctx context.Context, call verbs.Call, key string, seq uint64, entries []book.Item, notes []book.Item) (verbs.Result, error) {
	if r, bad := wants(call, 1, "/mem search QUERY"); bad {
		return r, nil
	}
	shown := map[string]string{}
	texts := []Text{}
	for _, e := range entries {
		if e.Status != book.Invalid {
			shown[e.ID] = entryLine(e) + indented(dialect.Cut(e.Text, 500))
			texts = append(texts, Text{ID: e.ID, Text: e.Title + "\n" + e.Text + "\n" + e.Kind, Time: e.Time})
		}
	}
	for i, n := range notes {
		id := fmt.Sprintf("note %d", i+1)
		shown[id] = fmt.Sprintf("- note of %s: %s\n", n.Agent, dialect.Cut(n.Text, 500))
		texts = append(texts, Text{ID: id, Text: n.Text, Time: n.Time})
	}
	ids, err := b.Find.Find(ctx, key, seq, func() []Text { return texts }, call.Rest, foundAtMost)
	if err != nil {
		return verbs.Result{}, err
	}
	var out strings.Builder
	for _, id := range ids {
		out.WriteString(shown[id])
	}
	if out.Len() == 0 {
		return verbs.OK("nothing found among %d entries and notes", len(texts)), nil
	}
	return kept(out.String()), nil
}
