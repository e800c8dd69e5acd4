package hub

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/projections/hubcopies"
	"github.com/writbus/writ/schemas"
)

// KindsText is the list of what leaves, a line a kind.
func KindsText(indent string) string {
	var b strings.Builder
	for _, k := range hubcopies.Kinds() {
		fmt.Fprintf(&b, "%s%-20s %s\n", indent, k.Type, cmp.Or(strings.Join(k.Fields, ", "), "–"))
	}
	return b.String()
}

// WhatLeaves says, kind by kind, what a hub is brought.
func WhatLeaves(r schemas.TeamRequest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "As %s, this machine would bring copies of these events to %s, with these\nfields and no others, from the beginning of its log:\n\n", cmp.Or(r.Member, "(nobody: name it with --as)"), r.URL)
	b.WriteString(KindsText("  "))
	b.WriteString("\nAnd the signed checkpoints of all streams, and what you share yourself with writ memory\nshare, sealed. Prompts, code, commands, reasons and words\nstay here. What was brought cannot be taken back.\n")
	return b.String()
}

// Told is a reply as people read it.
func Told(act string, r schemas.TeamReply) string {
	var b strings.Builder
	switch {
	case act == schemas.TeamJoin:
		fmt.Fprintf(&b, "Joined %s as %s. The daemon starts anew; writ team status shows what is brought.\n", r.URL, r.Member)
		if r.Problem != "" {
			fmt.Fprintf(&b, "Not all is well there now: %s\n", r.Problem)
		}
		return b.String()
	case act == schemas.TeamLeave:
		return fmt.Sprintf("Left %s. What %s brought there stays there; joining again begins epoch %d or a later one.\n", r.URL, r.Member, r.Epoch+1)
	case act == schemas.TeamDoctor:
		for _, c := range r.Checks {
			if c.OK {
				fmt.Fprintf(&b, "ok  %s\n", c.What)
			} else {
				fmt.Fprintf(&b, "NOT %s: %s\n", c.What, c.Says)
			}
		}
		return b.String()
	case r.URL == "":
		return "This machine is in no team: writ team join URL --creds FILE joins one.\n"
	}
	fmt.Fprintf(&b, "%s of %s, epoch %d, %s\n", r.Member, r.URL, r.Epoch, map[bool]string{true: "connected", false: "not connected"}[r.Connected])
	if r.Problem != "" {
		fmt.Fprintf(&b, "Nothing is brought at the moment: %s\n", r.Problem)
	}
	fmt.Fprintf(&b, "\n%-20s %10s %10s %10s %10s %10s\n", "stream", "records", "brought", "copies", "cosigned", "sealed")
	for _, s := range r.Streams {
		fmt.Fprintf(&b, "%-20s %10d %10d %10d %10d %10d\n", s.Stream, s.Last, s.Through, s.Copies, s.Cosigned, s.Sealed)
	}
	if !r.Seen.IsZero() {
		fmt.Fprintf(&b, "\nThe witness spoke last at %s. Its key: %s\n", r.Seen.Local().Format(time.DateTime), r.Witness)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "! %s\n", f)
	}
	return b.String()
}

// Wrong is what of a reply is to fail a command: a check of the doctor.
func Wrong(r schemas.TeamReply) error {
	for _, c := range r.Checks {
		if !c.OK {
			return errors.New("team doctor: something is not as it should be, as said above")
		}
	}
	return nil
}

// Witnessed are what a witness knows of members, as people read it.
func Witnessed(all []Seen) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "%s, log %s, epoch %d (%s)\n", s.Member, s.Log, s.Epoch, s.Why)
		for _, stream := range slices.Sorted(maps.Keys(s.Streams)) {
			one := s.Streams[stream]
			fmt.Fprintf(&b, "  %-20s %10d copies through record %d, %d records sealed\n", stream, one.Copies, one.Through, one.Records)
		}
		for _, f := range s.Findings {
			fmt.Fprintf(&b, "! %s\n", f)
		}
	}
	return b.String()
}

// Found is an error where a witness found something.
func Found(all []Seen) error {
	for _, s := range all {
		if len(s.Findings) > 0 {
			return errors.New("team witness: something was found")
		}
	}
	return nil
}
