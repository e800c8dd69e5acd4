package schedule

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrPhrase is wrapped by every error of Parse.
var ErrPhrase = errors.New("schedule: phrase refused")

// maxYears is the longest interval and the longest wait after "in".
const maxYears = 10

// defaultHour is the time of day where a phrase may name one and does not.
const defaultHour = 9

var units = map[string]time.Duration{
	"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour,
}

// Parse reads "PHRASE: MESSAGE", given at now. The phrase ends at the first
// colon that a blank or a tab follows. Times of day are meant in zone; nil is
// UTC. The error wraps ErrPhrase and says what to change.
func Parse(line string, now time.Time, zone *time.Location) (Plan, error) {
	phrase, message, ok := split(line)
	if !ok {
		return Plan{}, refuse("no message: write PHRASE, a colon, a blank and the message")
	}
	if zone == nil {
		zone = time.UTC
	}
	r := reader{words: strings.Fields(strings.ToLower(phrase)), plan: Plan{
		Message: message, given: now.Round(0).In(zone), hour: defaultHour,
	}}
	if err := r.phrase(); err != nil {
		return Plan{}, err
	}
	if len(r.words) > 0 {
		return Plan{}, refuse("%q is not understood after the phrase; leave it out", strings.Join(r.words, " "))
	}
	return r.finish()
}

func split(line string) (phrase, message string, ok bool) {
	for i := 0; i+1 < len(line); i++ {
		if line[i] == ':' && (line[i+1] == ' ' || line[i+1] == '\t') {
			phrase, message = strings.TrimSpace(line[:i]), strings.TrimSpace(line[i+1:])
			return phrase, message, phrase != "" && message != ""
		}
	}
	return "", "", false
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrPhrase, fmt.Sprintf(format, args...))
}

// reader takes words off the front of a phrase.
type reader struct {
	words []string
	plan  Plan
	date  *time.Time // of "on" and "tomorrow": midnight UTC of that day
}

func (r *reader) next() string {
	if len(r.words) == 0 {
		return ""
	}
	word := r.words[0]
	r.words = r.words[1:]
	return word
}

func (r *reader) accept(word string) bool {
	if len(r.words) == 0 || r.words[0] != word {
		return false
	}
	r.words = r.words[1:]
	return true
}

const forms = "use in N minutes|hours|days|weeks, at HH:MM, tomorrow, on YYYY-MM-DD, every N minutes|hours, hourly, daily, weekly or every DAY"

func (r *reader) phrase() error {
	p := &r.plan
	switch word := r.next(); word {
	case "in":
		p.Kind, p.form = Once, moment
		d, err := r.duration("minute", "hour", "day", "week")
		p.at = p.given.Add(d)
		return err
	case "at":
		p.Kind, p.form = Once, daily
		return r.clock()
	case "tomorrow":
		p.Kind, p.form = Once, moment
		day := civil(p.given).AddDate(0, 0, 1)
		r.date = &day
		return r.optionalClock()
	case "on":
		p.Kind, p.form = Once, moment
		if err := r.day(); err != nil {
			return err
		}
		return r.optionalClock()
	case "hourly":
		p.Kind, p.form, p.every = Recurring, interval, time.Hour
		return nil
	case "daily":
		p.Kind, p.form = Recurring, daily
		return r.optionalClock()
	case "weekly":
		return r.weekly()
	case "every":
		return r.everyPhrase()
	default:
		return refuse("%q begins no phrase; %s", word, forms)
	}
}

func (r *reader) everyPhrase() error {
	p := &r.plan
	p.Kind = Recurring
	switch {
	case r.accept("day"):
		p.form = daily
		return r.optionalClock()
	case r.accept("week"):
		return r.weekly()
	}
	if len(r.words) == 0 {
		return refuse("every what? %s", forms)
	}
	if day, ok := weekday(r.words[0]); ok {
		r.next()
		p.form, p.day = weekly, day
		return r.optionalClock()
	}
	d, err := r.duration("minute", "hour")
	p.form, p.every = interval, d
	return err
}

func (r *reader) weekly() error {
	p := &r.plan
	p.Kind, p.form, p.day = Recurring, weekly, time.Monday
	if r.accept("on") {
		name := r.next()
		day, ok := weekday(name)
		if !ok {
			return refuse("%q is no day of the week; use monday to sunday or mon to sun", name)
		}
		p.day = day
	}
	return r.optionalClock()
}

func weekday(name string) (time.Weekday, bool) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		full := strings.ToLower(day.String())
		if name == full || name == full[:3] {
			return day, true
		}
	}
	return 0, false
}

// duration reads a count and one of the named units.
func (r *reader) duration(names ...string) (time.Duration, error) {
	count, unit := r.next(), strings.TrimSuffix(r.next(), "s")
	length := time.Duration(0)
	for _, name := range names {
		if unit == name {
			length = units[name]
		}
	}
	if !digits(count) || length == 0 {
		return 0, refuse("a whole number and a unit are needed here: %s", strings.Join(names, "s, ")+"s")
	}
	n, err := strconv.ParseInt(count, 10, 64)
	limit := r.plan.given.AddDate(maxYears, 0, 0).Sub(r.plan.given)
	if err != nil || n > int64(limit/length) {
		return 0, refuse("%s %ss is longer than %d years; take a shorter interval", count, unit, maxYears)
	}
	if n == 0 {
		return 0, refuse("an interval of nothing; the shortest is 1 minute")
	}
	return time.Duration(n) * length, nil
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func (r *reader) optionalClock() error {
	if r.accept("at") {
		return r.clock()
	}
	return nil
}

// clock reads HH:MM or H:MM.
func (r *reader) clock() error {
	word := r.next()
	h, m, ok := strings.Cut(word, ":")
	if !ok || !digits(h) || !digits(m) || len(h) > 2 || len(m) != 2 {
		return refuse("%q is no time of day; write HH:MM", word)
	}
	hour, _ := strconv.Atoi(h)
	minute, _ := strconv.Atoi(m)
	if hour > 23 || minute > 59 {
		return refuse("there is no %s; times of day go from 00:00 to 23:59", word)
	}
	r.plan.hour, r.plan.minute = hour, minute
	return nil
}

func (r *reader) day() error {
	word := r.next()
	date, err := time.Parse(time.DateOnly, word)
	if err != nil {
		return refuse("%q is no date of the calendar; write YYYY-MM-DD", word)
	}
	r.date = &date
	return nil
}

// finish computes what depends on all of the phrase.
func (r *reader) finish() (Plan, error) {
	p := r.plan
	if r.date != nil {
		p.at = wall(*r.date, p.hour, p.minute, p.given.Location())
		if !p.at.After(p.given) {
			return Plan{}, refuse("%s is past; name a later moment", p.at.Format("2006-01-02 15:04"))
		}
	}
	if p.form == daily && p.Kind == Once {
		p.at, p.form = p.after(p.given), moment
	}
	return p, nil
}
