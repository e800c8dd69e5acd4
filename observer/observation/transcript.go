package observation

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Noted is an observation that an agent wrote into its own words.
type Noted struct {
	ID      string // the message's id and the line's place in it: the same whenever it is read
	Session string
	Input   []byte
}

// transcriptLine is the part of a line of a Claude Code transcript that is
// read.
type transcriptLine struct {
	Type      string `json:"type"`
	UUID      string `json:"uuid"`
	SessionID string `json:"sessionId"`
	IsMeta    bool   `json:"isMeta"` // written by the host, not by a person
	Message   struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// Transcript returns the observations in one line of a transcript: the lines
// of what the assistant said that begin with an annotation, also one that does
// not parse. Nothing else is promoted: a transcript's other lines are no
// observations, and a line that is no JSON holds none.
func Transcript(line []byte) []Noted {
	var l transcriptLine
	if json.Unmarshal(line, &l) != nil || l.Type != "assistant" || l.UUID == "" {
		return nil
	}
	var noted []Noted
	n := 0
	for _, text := range saidIn(l.Message.Content) {
		for said := range strings.Lines(text) {
			n++
			said = strings.TrimRight(said, newlines)
			if !annotated(said) {
				continue
			}
			noted = append(noted, Noted{ID: l.UUID + "#" + strconv.Itoa(n), Session: l.SessionID, Input: []byte(said)})
		}
	}
	return noted
}

// saidIn lists the texts of a message: a string, or those of its text blocks.
func saidIn(content json.RawMessage) []string {
	content = bytes.TrimSpace(content)
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []string{text}
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return nil
	}
	var all []string
	for _, b := range blocks {
		if b.Type == "text" {
			all = append(all, b.Text)
		}
	}
	return all
}

func annotated(line string) bool {
	_, _, state := readAnnotation(cutMarkers(strings.TrimSpace(validUTF8(line))))
	return state != absent
}
