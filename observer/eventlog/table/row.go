// Package table makes rows of events, for analysis with other programs: typed columns
// for what an event is and for the fields that many have, and its whole data.
//
// A row is a line of JSON. Of such lines the package parquet below makes a file
// for DuckDB, pandas and the like.
package table

import (
	"encoding/json"
	"time"

	"github.com/writbus/writ/schemas"
)

// Row is an event as a row. Where it came from and what it is, and fields of
// its data that many events have, are columns; the whole data is one more.
type Row struct {
	Stream        string    `parquet:"stream,dict" json:"stream"`
	Seq           int64     `parquet:"seq" json:"seq"`
	Part          int32     `parquet:"part" json:"part"` // of the record, which may hold several events
	ID            string    `parquet:"id" json:"id"`
	Type          string    `parquet:"type,dict" json:"type"`
	Version       int32     `parquet:"version" json:"version"`
	Time          time.Time `parquet:"time,timestamp(microsecond)" json:"time"`
	Kind          string    `parquet:"kind,dict" json:"kind"`           // of the aggregate
	Aggregate     string    `parquet:"aggregate,dict" json:"aggregate"` // a session's id, a rule's, …
	Actor         string    `parquet:"actor,dict" json:"actor"`
	ActorKind     string    `parquet:"actor_kind,dict" json:"actor_kind"`
	CausationID   *string   `parquet:"causation_id" json:"causation_id"`
	CorrelationID *string   `parquet:"correlation_id" json:"correlation_id"`
	Undecodable   *string   `parquet:"undecodable" json:"undecodable"` // why data is the raw body

	// Fields of events' data; null where an event has none.
	Host       *string  `parquet:"host,dict" json:"host"`
	Project    *string  `parquet:"project,dict" json:"project"`
	Tool       *string  `parquet:"tool,dict" json:"tool"`
	Verdict    *string  `parquet:"verdict,dict" json:"verdict"`
	Rule       *string  `parquet:"rule,dict" json:"rule"`
	Gate       *string  `parquet:"gate,dict" json:"gate"`
	Mode       *string  `parquet:"mode,dict" json:"mode"`
	Phase      *string  `parquet:"phase,dict" json:"phase"`
	Tokens     *int64   `parquet:"tokens" json:"tokens"`
	Bytes      *int64   `parquet:"bytes" json:"bytes"`
	Millis     *int64   `parquet:"millis" json:"millis"`
	Confidence *float64 `parquet:"confidence" json:"confidence"`

	Text string          `parquet:"data,json" json:"-"`
	Data json.RawMessage `parquet:"-" json:"data"`
}

// RowOf makes an event a row. A field of another type than its column's is in the
// data alone.
func RowOf(e schemas.ReplayEvent) Row {
	r := Row{
		Stream: string(e.Position.Stream), Seq: int64(e.Position.Seq), Part: int32(e.Position.Part), ID: e.ID, Type: string(e.Type), //nolint:gosec // places in a log
		Version: int32(e.Version), Time: e.Time.UTC(), Kind: string(e.Aggregate.Kind), Aggregate: e.Aggregate.ID, //nolint:gosec // a small number
		Actor: e.Actor, ActorKind: string(schemas.ParseActor(e.Actor).Kind()), Text: string(e.Data), Data: e.Data,
		CausationID: given(e.CausationID), CorrelationID: given(e.CorrelationID), Undecodable: given(e.Undecodable),
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(e.Data, &fields) != nil {
		return r
	}
	d := &r
	for name, column := range map[string]any{
		"host": &d.Host, "project": &d.Project, "tool": &d.Tool, "verdict": &d.Verdict, "rule": &d.Rule, "gate": &d.Gate, "mode": &d.Mode,
		"phase": &d.Phase, "tokens": &d.Tokens, "bytes": &d.Bytes, "millis": &d.Millis, "confidence": &d.Confidence,
	} {
		if raw, has := fields[name]; has && json.Unmarshal(raw, column) != nil {
			_ = json.Unmarshal([]byte("null"), column) // what was begun of it
		}
	}
	return r
}

func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
