package client

import (
	"context"
	"time"
)

// Show asks in a role and prints the answer: as JSON where --json says so, else
// by show. What names the attempt in an error.
func Show[T any](ctx context.Context, a *Client, role, what, subject string, request any, show func(T)) error {
	return ShowWithin(ctx, a, role, what, callBudget, subject, request, show)
}

// ShowWithin is Show for what may take longer than most.
func ShowWithin[T any](ctx context.Context, a *Client, role, what string, budget time.Duration, subject string, request any, show func(T)) error {
	reply, err := AskWithin[T](ctx, a, role, what, budget, subject, request)
	if err != nil {
		return err
	}
	return a.Print(reply, func() { show(reply) })
}

// Print prints a value: as JSON where --json says so, else by show.
func (a *Client) Print(value any, show func()) error {
	if a.JSON {
		return a.PrintJSON(value)
	}
	show()
	return nil
}

// Each prints values: one JSON object a line where --json says so, else none
// where there are none, else by show.
func Each[T any](a *Client, all []T, none string, show func() error) error {
	switch {
	case a.JSON:
		for _, one := range all {
			if err := a.PrintJSON(one); err != nil {
				return err
			}
		}
	case len(all) == 0 && none != "":
		a.Printf("%s\n", none)
	default:
		return show()
	}
	return nil
}

// Rows prints values as Each does, as a table.
func Rows[T any](a *Client, all []T, none, header string, row func(T) string) error {
	return Each(a, all, none, func() error { return Table(a, header, all, row) })
}

// AskThen asks in a role, and goes on with the answer.
func AskThen[T any](ctx context.Context, a *Client, role, what, subject string, request any, do func(T) error) error {
	reply, err := Ask[T](ctx, a, role, what, subject, request)
	if err != nil {
		return err
	}
	return do(reply)
}
