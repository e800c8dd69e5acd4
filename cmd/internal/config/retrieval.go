package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/artifact/strategy"
	"github.com/writbus/writ/schemas/spelling"
)

// withStrategies is the project with the strategies that are written in other tools'
// words. An error names the key and what is wrong with it.
func (p Project) withStrategies() (Project, error) {
	all := map[string]strategy.Override{}
	for name, s := range p.AgentStrategies {
		o, err := override("agent_strategies."+name, s)
		if err != nil {
			return p, err
		}
		all[name] = o
	}
	maps.Copy(all, p.Strategies)
	p.Strategies = all
	return p, nil
}

// override reads a strategy as other tools write it.
func override(path string, values map[string]any) (o strategy.Override, err error) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		value := values[key]
		var ok bool
		switch strings.ToLower(key) {
		case "types", "artifact_types":
			o.Types, ok = textsOf(value)
		case "tags", "tag_filter", "required_tags":
			o.Tags, ok = textsOf(value)
		case "phases", "phase_filter", "phase":
			o.Phases, ok = textsOf(value)
		case "top_k", "topk", "max_results":
			n, isNumber := numberOf(value)
			whole := int(n)
			o.TopK, ok = &whole, isNumber && float64(whole) == n
		case "min_score", "threshold", "relevance_threshold", "min_relevance":
			n, isNumber := numberOf(value)
			o.MinScore, ok = &n, isNumber
		default:
			return o, fmt.Errorf("%s.%s: a strategy has no such setting%s", path, key, spelling.Meant(key, []string{"types", "tags", "phases", "top_k", "min_score", "threshold"}))
		}
		if !ok {
			return o, fmt.Errorf("%s.%s is %v, which cannot be meant", path, key, value)
		}
	}
	return o, nil
}

// textsOf is a list of texts, or one of them.
func textsOf(value any) (*[]string, bool) {
	if one, ok := value.(string); ok {
		return &[]string{one}, true
	}
	list, ok := value.([]any)
	texts := make([]string, len(list))
	for i, one := range list {
		text, isText := one.(string)
		texts[i], ok = text, ok && isText
	}
	return &texts, ok
}

func numberOf(value any) (float64, bool) {
	switch n := value.(type) {
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case uint64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}
