package client

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/spelling"
)

// rulesServices begins the subjects of services that take a rule's id.
const rulesServices = "writ.svc.rule."

// meant says which rule or session may be meant, where a request names one that
// is not there.
func meant(ctx context.Context, s Service, subject string, request any, err error) error {
	var service *bus.ServiceError
	if !errors.As(err, &service) || service.Code != schemas.CodeNotFound {
		return err
	}
	var named struct {
		Session string `json:"session"`
		ID      string `json:"id"`
	}
	raw, jsonErr := json.Marshal(request)
	if jsonErr != nil || json.Unmarshal(raw, &named) != nil {
		return err
	}
	name, names := named.Session, []string(nil)
	switch {
	case name != "":
		list, listErr := Call[schemas.SessionList](ctx, s, schemas.SvcSessions, schemas.SessionQuery{Limit: recentSessions})
		if listErr != nil {
			return err
		}
		for _, one := range list.Sessions {
			names = append(names, one.Session)
		}
	case strings.HasPrefix(subject, rulesServices) && named.ID != "":
		list, listErr := Call[schemas.RuleList](ctx, s, schemas.SvcRules, schemas.RuleQuery{})
		if listErr != nil {
			return err
		}
		name = named.ID
		for _, one := range list.Rules {
			names = append(names, one.ID)
		}
	}
	if near := spelling.Near(name, names, 3); len(near) > 0 {
		found := *service
		found.Text = strings.TrimSuffix(service.Text, ".") + ". Did you mean " + strings.Join(near, " or ") + "?"
		return &found
	}
	return err
}

// Meant says which of some names a word may mean, "" where none is near.
func Meant[S ~string](word string, names []S) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = string(name)
	}
	return spelling.Meant(word, all)
}
