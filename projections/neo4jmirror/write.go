package neo4jmirror

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/writbus/writ/schemas"
)

// edgeName is what a relationship type may look like. It stands in the text of
// a query, so nothing else is let through.
var edgeName = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)

// labels are the node types as labels, without the given one.
func labelsBut(own schemas.NodeType) string {
	var others []string
	for _, t := range schemas.NodeTypes() {
		if t != own {
			others = append(others, string(t))
		}
	}
	return strings.Join(others, ":")
}

// putNodes makes nodes what they are in the graph. The type is one of the
// known ones, since it becomes part of the query.
func putNodes(do statements, generation int64, nodes []schemas.Rule) error {
	byType := map[schemas.NodeType][]map[string]any{}
	for _, r := range nodes {
		set, err := propertiesOf(r)
		if err != nil {
			return err
		}
		if set[wroteFieldsKey], set[wroteEdgesKey], err = wroteOf(r); err != nil {
			return err
		}
		byType[r.NodeType()] = append(byType[r.NodeType()], map[string]any{"id": r.ID, "set": set})
	}
	for _, t := range schemas.NodeTypes() {
		if len(byType[t]) == 0 {
			continue
		}
		query := fmt.Sprintf("UNWIND $rows AS row MERGE (n:%s {id: row.id}) "+
			"SET n += row.set, n.%s = $generation, n.%s = null SET n:%s REMOVE n:%s",
			nodeLabel, generationKey, staleKey, t, labelsBut(t))
		if _, err := do.run(query, map[string]any{"rows": byType[t], "generation": generation}); err != nil {
			return err
		}
	}
	return nil
}

// heldNodes are the mirror's own nodes of these ids, and others that carry one.
func heldNodes(do statements, ids []string) (own map[string]neo4j.Node, others map[string][]neo4j.Node, err error) {
	own, others = map[string]neo4j.Node{}, map[string][]neo4j.Node{}
	records, err := do.run("MATCH (n) WHERE n.id IN $ids AND any(l IN labels(n) WHERE l IN $labels) RETURN n",
		map[string]any{"ids": ids, "labels": append([]schemas.NodeType{nodeLabel}, schemas.NodeTypes()...)})
	for _, record := range records {
		n, _, err := neo4j.GetRecordValue[neo4j.Node](record, "n")
		if err != nil {
			return nil, nil, err
		}
		id, _ := n.Props["id"].(string)
		if slices.Contains(n.Labels, nodeLabel) {
			own[id] = n
		} else {
			others[id] = append(others[id], n)
		}
	}
	return own, others, err
}

// heldAs is what a database holds of a node that the graph has as this one.
func heldAs(n neo4j.Node, ours schemas.Rule) schemas.Rule {
	p := newPuller(statements{})
	p.types = map[string]schemas.NodeType{}
	for _, t := range schemas.NodeTypes() {
		p.types[string(t)] = t
	}
	t := ours.NodeType()
	if types := p.typesOf(n); len(types) > 0 && !slices.Contains(types, t) {
		t = types[0]
	}
	return newReader(t, n.Props).node()
}

// byHand says whether somebody changed the fields of a node of the mirror since it
// was written to other than those that are to be written.
func byHand(n neo4j.Node, ours schemas.Rule) (bool, error) {
	held := heldAs(n, ours)
	if sameFields(ours, held) {
		return false, nil
	}
	fields, err := fieldsOf(held)
	wrote := wroteAt(n)
	return wrote == nil || wrote.Fields != fields, err
}

// free are those of the nodes that nobody changed by hand, all of them where that
// is overwritten. The others are marked as seen and stay as they are. A node made
// by hand that says what the graph's says, having been pulled, becomes the mirror's.
func (p *push) free(do statements, nodes []schemas.Rule) ([]schemas.Rule, error) {
	ids := []string{}
	for _, r := range nodes {
		ids = append(ids, r.ID)
	}
	own, others, err := heldNodes(do, ids)
	if err != nil {
		return nil, err
	}
	var free []schemas.Rule
	held, adopted := []string{}, []string{}
	for _, r := range nodes {
		n, there := own[r.ID]
		if there {
			kept, err := byHand(n, r)
			if err != nil {
				return nil, err
			}
			if kept && !p.overwrites(r.ID) {
				held = append(held, r.ID)
				continue
			}
		} else if alike := others[r.ID]; len(alike) == 1 && sameFields(r, heldAs(alike[0], r)) {
			adopted = append(adopted, alike[0].ElementId)
		}
		free = append(free, r)
	}
	if len(adopted) > 0 {
		if _, err := do.run("UNWIND $ids AS e MATCH (n) WHERE elementId(n) = e SET n:"+nodeLabel, map[string]any{"ids": adopted}); err != nil {
			return nil, err
		}
	}
	return free, p.seen(do, held)
}

// seen keeps nodes from being taken for what a full pass left over.
func (p *push) seen(do statements, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := do.run(fmt.Sprintf("UNWIND $ids AS id MATCH (n:%s {id: id}) SET n.%s = $generation", nodeLabel, generationKey),
		map[string]any{"ids": ids, "generation": p.at.Generation})
	return err
}

// unchanged are those of the nodes, which the graph has no longer, that are as the
// mirror wrote them. The others hold what a person wrote, and stay.
func (p *push) unchanged(do statements, ids []string) ([]string, error) {
	own, _, err := heldNodes(do, ids)
	if err != nil {
		return nil, err
	}
	gone, held := []string{}, []string{}
	for _, id := range ids {
		n, there := own[id]
		if !there {
			continue
		}
		wrote := wroteAt(n)
		fields, err := fieldsOf(heldAs(n, schemas.Rule{ID: id}))
		if err != nil {
			return nil, err
		}
		if wrote != nil && wrote.Fields == fields || p.overwrites(id) {
			gone = append(gone, id)
		} else {
			held = append(held, id)
		}
	}
	return gone, p.seen(do, held)
}

// edgeRow is an edge with both ends.
type edgeRow struct {
	from, to, kind string
	order          int
}

func edgesOf(r schemas.Rule) []edgeRow {
	var rows []edgeRow
	for i, e := range r.Edges {
		row := edgeRow{from: r.ID, to: e.Target, kind: e.Type, order: i}
		twice := slices.ContainsFunc(rows, func(o edgeRow) bool { return o.to == row.to && o.kind == row.kind })
		if !twice && edgeName.MatchString(row.kind) {
			rows = append(rows, row)
		}
	}
	return rows
}

// putEdges makes sure of edges whose ends are both in the mirror, and returns
// how many those are. Source nodes are locked by the transaction's checkpoint,
// so no other push can make the same edge.
func putEdges(do statements, generation int64, edges []edgeRow) (int, error) {
	byType := map[string][]map[string]any{}
	for _, e := range edges {
		byType[e.kind] = append(byType[e.kind], map[string]any{"from": e.from, "to": e.to, "order": e.order})
	}
	written := 0
	for _, kind := range slices.Sorted(maps.Keys(byType)) {
		query := fmt.Sprintf("UNWIND $rows AS row "+
			"MATCH (a:%[1]s {id: row.from}) MATCH (b:%[1]s {id: row.to}) WHERE b.%[2]s IS NULL AND a.%[2]s IS NULL "+
			"MERGE (a)-[r:%[3]s {%[4]s: true}]->(b) SET r.%[5]s = $generation, r.%[6]s = row.order RETURN count(r) AS n",
			nodeLabel, staleKey, kind, markKey, generationKey, orderKey)
		n, err := do.count(query, map[string]any{"rows": byType[kind], "generation": generation})
		if err != nil {
			return written, err
		}
		written += n
	}
	return written, nil
}

// dropEdges takes away what these nodes point to no longer.
func dropEdges(do statements, nodes []schemas.Rule) (int, error) {
	rows := make([]map[string]any, 0, len(nodes))
	for _, r := range nodes {
		keep := []string{}
		for _, e := range edgesOf(r) {
			keep = append(keep, e.kind+" "+e.to)
		}
		rows = append(rows, map[string]any{"id": r.ID, "keep": keep})
	}
	return do.count(fmt.Sprintf("UNWIND $rows AS row MATCH (a:%s {id: row.id})-[r]->(b) "+
		"WHERE r.%s AND NOT type(r) + ' ' + coalesce(b.id, '') IN row.keep DELETE r RETURN count(r) AS n",
		nodeLabel, markKey), map[string]any{"rows": rows})
}

// dropNodes takes nodes out of the mirror: their edges, and themselves. A node
// on which somebody else's relationships hang is marked and kept.
func dropNodes(do statements, ids []string) (removed, kept int, err error) {
	params := map[string]any{"ids": ids}
	_, err = do.run(fmt.Sprintf("UNWIND $ids AS id MATCH (:%s {id: id})-[r]-() WHERE r.%s DELETE r", nodeLabel, markKey), params)
	if err != nil {
		return 0, 0, err
	}
	removed, err = do.count(fmt.Sprintf("UNWIND $ids AS id MATCH (n:%s {id: id}) WHERE NOT (n)--() DELETE n RETURN count(n) AS n", nodeLabel), params)
	if err != nil {
		return 0, 0, err
	}
	kept, err = do.count(fmt.Sprintf("UNWIND $ids AS id MATCH (n:%s {id: id}) SET n.%s = true RETURN count(n) AS n", nodeLabel, staleKey), params)
	return removed, kept, err
}

// sweepEdges deletes some of the edges that the full pass did not write.
func sweepEdges(do statements, generation int64, most int) (int, error) {
	return do.count(fmt.Sprintf("MATCH (:%s)-[r]->() WHERE r.%s AND r.%s <> $generation WITH r LIMIT $most DELETE r RETURN count(r) AS n",
		nodeLabel, markKey, generationKey), map[string]any{"generation": generation, "most": most})
}

// staleNodes names some of the nodes that the full pass did not write.
func staleNodes(do statements, generation int64, most int) ([]string, error) {
	records, err := do.run(fmt.Sprintf("MATCH (n:%s) WHERE n.%s IS NULL AND coalesce(n.%s, -1) <> $generation RETURN n.id AS id LIMIT $most",
		nodeLabel, staleKey, generationKey), map[string]any{"generation": generation, "most": most})
	ids := []string{}
	for _, record := range records {
		if id, is := record.Values[0].(string); is {
			ids = append(ids, id)
		}
	}
	return ids, err
}
