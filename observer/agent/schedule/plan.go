package schedule

import "time"

// Kind says how often a plan fires. The zero value never does.
type Kind int

const (
	// Once fires a single time.
	Once Kind = iota + 1
	// Recurring fires until it is cancelled.
	Recurring
)

type form int

const (
	moment   form = iota // at
	interval             // every, counted from given
	daily                // hour:minute
	weekly               // day, hour:minute
)

// Plan is a phrase that was understood. The zero value never fires.
type Plan struct {
	Kind    Kind
	Message string

	form         form
	given        time.Time // in the plan's zone
	at           time.Time
	every        time.Duration
	day          time.Weekday
	hour, minute int
}

// First is the first fire.
func (p Plan) First() time.Time {
	at, _ := p.Next(p.given)
	return at
}

// Next returns the first fire after a moment; ok is false where none is left.
func (p Plan) Next(after time.Time) (at time.Time, ok bool) {
	if after.Before(p.given) {
		after = p.given
	}
	switch {
	case p.Kind == 0 || p.Kind == Once && !p.at.After(after):
		return time.Time{}, false
	case p.Kind == Once:
		return p.at, true
	default:
		return p.after(after), true
	}
}

// after computes the next moment of a plan that recurs.
func (p Plan) after(t time.Time) time.Time {
	if p.form == interval {
		return p.given.Add(t.Sub(p.given)/p.every*p.every + p.every)
	}
	day := civil(t.In(p.given.Location()))
	for ; ; day = day.AddDate(0, 0, 1) {
		if p.form == weekly && day.Weekday() != p.day {
			continue
		}
		if at := wall(day, p.hour, p.minute, p.given.Location()); at.After(t) {
			return at
		}
	}
}

// Fire is a moment that has come.
type Fire struct {
	At     time.Time // the last of the moments that came
	Missed int       // how many came before it and were never fired
}

// Due returns what became due after the last fire (or since the phrase was
// given: the zero time) and up to now. Several moments are one fire.
func (p Plan) Due(last, now time.Time) (Fire, bool) {
	at, ok := p.Next(last)
	if !ok || at.After(now) {
		return Fire{}, false
	}
	fire := Fire{At: at}
	if p.form == interval {
		n := now.Sub(at) / p.every
		return Fire{At: at.Add(n * p.every), Missed: int(n)}, true
	}
	for {
		if at, ok = p.Next(at); !ok || at.After(now) {
			return fire, true
		}
		fire = Fire{At: at, Missed: fire.Missed + 1}
	}
}

// civil is the calendar day of a moment in its own zone, as midnight UTC.
func civil(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// wall is the moment at which clocks of a zone show a time of day. time.Date
// leaves open what it returns around a change of the clock.
func wall(day time.Time, hour, minute int, zone *time.Location) time.Time {
	naive := day.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
	shows := func(t time.Time) bool {
		return t.Hour() == hour && t.Minute() == minute && civil(t).Equal(day)
	}
	before := shift(naive, naive.Add(-26*time.Hour), zone)
	if shows(before) {
		return before
	}
	if later := shift(naive, naive.Add(26*time.Hour), zone); shows(later) {
		return later
	}
	return before
}

// shift reads a time of day with the offset that the zone has at another moment.
func shift(naive, at time.Time, zone *time.Location) time.Time {
	_, offset := at.In(zone).Zone()
	return naive.Add(-time.Duration(offset) * time.Second).In(zone)
}
