package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/retrieval/artifact/strategy"
	"github.com/writbus/writ/schemas/spelling"
)

// fixed are the values that hold whatever settings say, by the last part of a key,
// and why.
var fixed = func() map[string]held {
	byKey := map[string]held{}
	for keys, h := range map[string]held{
		"k1":     {"1.2", "the weights of ranking are fitted with it"},
		"b":      {"0.75", "the weights of ranking are fitted with it"},
		"fields": {"[title tags summary path content]", "the weights of ranking are fitted with all of them"},
		"max_tokens max_chunk_tokens chunk_size max_chunk_size": {fmt.Sprint(artifact.MaxChunkTokens), "chunks are declarations and sections up to this size"},
		"overlap overlap_tokens chunk_overlap":                  {fmt.Sprint(artifact.OverlapTokens), "only what is cut inside a declaration overlaps"},
		"strategy":                                              {"", "chunks are declarations and sections"},
		"preserve_code_blocks respect_boundaries":               {"true", "declarations and sections stay whole"},
		"max_context_tokens":                                    {"50000", "writ context --max-context-tokens sets it, and a prompt brings 1,500 at most"},
		"format":                                                {"markdown", "writ context --format sets it"},
		"model embedding_model":                                 {"", "writ model use chooses the embedder"},
		"method":                                                {"", "the first stage is bm25, the second joins it with meaning; writ context --method sets one for a search"},
		"include_metadata include_references include_citations":                                            {"true", "pieces come with their paths and lines, the files they mention, and what is known of their file"},
		"candidates_max candidates_ttl embeddings_max embeddings_ttl max_entries max_size ttl ttl_seconds": {"", "1,000 answers are remembered for 5 minutes, 5,000 embeddings for 30, until the index moves"},
		"enabled": {"true", "it always is"},
	} {
		for key := range strings.FieldsSeq(keys) {
			byKey[key] = h
		}
	}
	return byKey
}()

// held is what a setting is, "" for what is set elsewhere, and why.
type held struct{ value, why string }

// RetrievalNotes says of each setting about finding and giving files that has no
// effect why that is so.
func (p Project) RetrievalNotes() []string {
	_, notes, err := p.withRetrieval()
	if err != nil {
		return []string{err.Error()}
	}
	return notes
}

// withRetrieval is the project with what settings in other tools' words change of
// its strategies and prompts, and for each of their keys that has no effect a
// sentence that says why. An error names the key and what is wrong with it.
func (p Project) withRetrieval() (changed Project, notes []string, err error) {
	changed = p
	changed.Strategies = map[string]strategy.Override{}
	for name, s := range p.AgentStrategies {
		o, more, err := override("agent_strategies."+name, s)
		if err != nil {
			return p, nil, err
		}
		changed.Strategies[name], notes = o, append(notes, more...)
	}
	second := map[string]any{}
	each("retrieval_pipeline", p.RetrievalPipeline, func(path, key string, value any) {
		stage2 := strings.Contains(path, "2") || strings.Contains(path, "second") || strings.Contains(path, "semantic") || strings.Contains(path, "rerank")
		switch {
		case stage2 && (key == "top_k" || key == "topk" || key == "threshold" || key == "min_score" || key == "relevance_threshold"):
			second[key] = value
		case key == "top_k" || key == "topk":
			notes = append(notes, why(path, value, "100", "writ context --stage1-topk sets it for a search")...)
		case key == "enabled":
			notes = append(notes, why(path, value, "true", "both stages always run; writ context --method leaves one out")...)
		default:
			notes = append(notes, effect(path, key, value)...)
		}
	})
	if len(second) > 0 {
		o, _, err := override("retrieval_pipeline", second)
		if err != nil {
			return p, nil, err
		}
		if _, own := changed.Strategies[strategy.Default]; !own {
			changed.Strategies[strategy.Default] = o
		}
	}
	note := func(path, key string, value any) { notes = append(notes, effect(path, key, value)...) }
	each("chunking", p.Chunking, note)
	each("caching", p.Caching, note)
	each("context_injection", p.ContextInjection, func(path, key string, value any) {
		on, isBool := value.(bool)
		if !isBool || key != "enabled" && key != "auto_retrieve_on_start" && key != "auto_inject" {
			note(path, key, value)
			return
		}
		changed.AutoRetrieveOnStart = changed.AutoRetrieveOnStart && on
	})
	maps.Copy(changed.Strategies, p.Strategies)
	slices.Sort(notes)
	return changed, notes, nil
}

// each calls f for every value below a group of settings.
func each(path string, values map[string]any, f func(path, key string, value any)) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if below, ok := values[key].(map[string]any); ok {
			each(path+"."+key, below, f)
			continue
		}
		f(path+"."+key, strings.ToLower(key), values[key])
	}
}

// effect says why a key has no effect; nothing where it says what holds anyway.
func effect(path, key string, value any) []string {
	known, ok := fixed[key]
	if !ok {
		return []string{path + " has no effect: Writ has no such setting" + mayMean(key, slices.Sorted(maps.Keys(fixed)))}
	}
	return why(path, value, known.value, known.why)
}

func why(path string, value any, holds, reason string) []string {
	if fmt.Sprint(value) == holds {
		return nil
	} else if holds == "" {
		return []string{fmt.Sprintf("%s has no effect: %s", path, reason)}
	}
	return []string{fmt.Sprintf("%s has no effect, %s holds: %s", path, holds, reason)}
}

// mayMean asks whether a key that is not known is one of others.
func mayMean(key string, known []string) string {
	near := spelling.Near(key, known, 1)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + near[0] + "?"
}

// override reads a strategy as other tools write it.
func override(path string, values map[string]any) (o strategy.Override, notes []string, err error) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		value := values[key]
		ok := true
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
			notes = append(notes, path+"."+key+" has no effect: a strategy has no such setting"+mayMean(key, []string{"types", "tags", "phases", "top_k", "min_score", "threshold"}))
		}
		if !ok {
			return o, nil, fmt.Errorf("%s.%s is %v, which cannot be meant", path, key, value)
		}
	}
	return o, notes, nil
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
