package server

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// answerResourceGraph answers POST /providers/Microsoft.ResourceGraph/resources: queries of the tables Resources and ResourceContainers with the
// operators where, project, extend of a path, order by, take, limit, distinct of one column, summarize count() by one column, and count. Other
// operators are refused. The graph has the present state; Azure's lags by seconds to minutes.
// Source: https://learn.microsoft.com/azure/governance/resource-graph/concepts/query-language and
// https://learn.microsoft.com/rest/api/azureresourcegraph/resourcegraph/resources/resources
func (x *exchange) answerResourceGraph() (*provider.Reply, error) {
	if x.r.Method != "POST" {
		return nil, provider.GatewayErrorf(405, "MethodNotAllowed", "The requested resource does not support http method '%s'.", x.r.Method)
	}
	subscriptions := body.Strings(x.call.Body, "subscriptions")
	if len(subscriptions) == 0 {
		subscriptions = x.s.opts.Subscriptions
	}
	steps := splitOutside(body.String(x.call.Body, "query"), '|')
	if len(steps) == 0 || steps[0] == "" {
		return nil, refuseQuery("the query is empty")
	}
	rows, err := x.graphTable(steps[0], subscriptions)
	if err != nil {
		return nil, err
	}
	if !isTable(steps[0]) {
		steps = append([]string{"Resources"}, steps...)
	}
	for _, step := range steps[1:] {
		if rows, err = applyOperator(rows, step); err != nil {
			return nil, err
		}
	}
	total := len(rows)
	skip, top := body.Int(x.call.Body, "options.$skip"), cmp.Or(body.Int(x.call.Body, "options.$top"), 1000)
	if token, err := strconv.Atoi(body.String(x.call.Body, "options.$skipToken")); err == nil {
		skip = token
	}
	skip = min(max(skip, 0), total)
	end := min(skip+min(max(top, 1), 1000), total)
	data := []any{}
	for _, row := range rows[skip:end] {
		data = append(data, row)
	}
	out := body.Object{"totalRecords": total, "count": len(data), "data": data, "facets": []any{}, "resultTruncated": "false"}
	if end < total {
		out["$skipToken"] = strconv.Itoa(end)
	}
	return provider.OK(out), nil
}

func refuseQuery(format string, args ...any) error {
	e := provider.GatewayErrorf(400, "BadRequest", "Please provide below info when asking for support: the query is invalid.")
	e.Details = []*provider.Error{provider.Errorf(0, "InvalidQuery", "Query is invalid. Please refer to the documentation for the Azure Resource Graph service and fix the error before retrying: "+format+".", args...)}
	return e
}

func isTable(step string) bool {
	return slices.ContainsFunc([]string{"resources", "resourcecontainers"}, func(t string) bool { return strings.EqualFold(t, step) })
}

// graphTable returns the rows of a table: resources with location or tags as Azure has them, or resource groups and subscriptions.
func (x *exchange) graphTable(table string, subscriptions []string) ([]body.Object, error) {
	containers := strings.EqualFold(table, "ResourceContainers")
	var out []body.Object
	for _, sub := range subscriptions {
		if !x.s.knownSubscription(strings.ToLower(sub)) {
			continue
		}
		for _, r := range x.call.List("", "/subscriptions/"+sub) {
			id, err := store.ParseID(r.ID)
			t := x.s.env.TypeOf(r.Type)
			isGroup := strings.EqualFold(r.Type, groupType)
			if err != nil || t == nil || isGroup != containers || !isGroup && (t.Untracked || len(id.Names) > 1 && r.Location == "") {
				continue
			}
			c := *x.call
			c.ID, c.Type, c.APIVersion, c.Internal = id, t, t.ListVersions()[0], false
			row := c.RenderResource(r)
			row["type"], row["subscriptionId"], row["tenantId"] = strings.ToLower(r.Type), sub, x.s.opts.Tenant
			row["resourceGroup"] = strings.ToLower(id.ResourceGroup)
			if isGroup {
				row["type"], row["resourceGroup"] = "microsoft.resources/subscriptions/resourcegroups", strings.ToLower(id.Name())
			}
			for _, key := range []string{"tags", "sku", "zones", "identity", "kind", "plan", "managedBy", "extendedLocation", "properties"} {
				if _, has := row[key]; !has {
					row[key] = nil
				}
			}
			out = append(out, row)
		}
	}
	return out, nil
}

// splitOutside splits a query at a byte outside of quotes and parentheses, without empty space around the parts.
func splitOutside(query string, at byte) []string {
	var out []string
	begin, depth, quote := 0, 0, byte(0)
	for i := range len(query) {
		switch b := query[i]; {
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case b == '\'' || b == '"':
			quote = b
		case b == '(' || b == '[':
			depth++
		case b == ')' || b == ']':
			depth--
		case b == at && depth == 0:
			out = append(out, strings.TrimSpace(query[begin:i]))
			begin = i + 1
		}
	}
	return append(out, strings.TrimSpace(query[begin:]))
}

func applyOperator(rows []body.Object, step string) ([]body.Object, error) {
	operator, rest, _ := strings.Cut(step, " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(operator) {
	case "where":
		return filterRows(rows, rest)
	case "project", "distinct":
		return projectRows(rows, rest, strings.EqualFold(operator, "distinct"))
	case "extend":
		for _, assignment := range splitOutside(rest, ',') {
			name, path, ok := strings.Cut(assignment, "=")
			if !ok {
				return nil, refuseQuery("'%s' is no assignment", assignment)
			}
			for _, row := range rows {
				row[strings.TrimSpace(name)] = columnOf(row, strings.TrimSpace(path))
			}
		}
		return rows, nil
	case "take", "limit":
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 {
			return nil, refuseQuery("'%s' is no number of rows", rest)
		}
		return rows[:min(n, len(rows))], nil
	case "count":
		return []body.Object{{"Count": len(rows)}}, nil
	case "order", "sort":
		return orderRows(rows, strings.TrimSpace(strings.TrimPrefix(rest, "by"))), nil
	case "summarize":
		return countRows(rows, rest)
	}
	return nil, refuseQuery("the operator '%s' is not served by the simulator", operator)
}

var condition = regexp.MustCompile(`^(.+?)\s*(=~|!~|==|!=|\bin~|\bin\b|\bhas\b|\bcontains\b|\bstartswith\b)\s*(.+)$`)

// filterRows keeps the rows that meet all conditions, which "and" joins.
func filterRows(rows []body.Object, conditions string) ([]body.Object, error) {
	for _, text := range regexp.MustCompile(`(?i)\s+and\s+`).Split(conditions, -1) {
		m := condition.FindStringSubmatch(strings.TrimSpace(text))
		if m == nil {
			return nil, refuseQuery("the condition '%s' is not served by the simulator", text)
		}
		var wanted []string
		for _, v := range splitOutside(strings.Trim(m[3], "() "), ',') {
			wanted = append(wanted, strings.Trim(v, `'" `))
		}
		rows = slices.DeleteFunc(rows, func(row body.Object) bool {
			value := ""
			if v := columnOf(row, m[1]); v != nil {
				value = fmt.Sprint(v)
			}
			return !isMet(m[2], value, wanted)
		})
	}
	return rows, nil
}

func isMet(operator, value string, wanted []string) bool {
	lower, first := strings.ToLower(value), strings.ToLower(wanted[0])
	switch operator {
	case "==":
		return value == wanted[0]
	case "!=":
		return value != wanted[0]
	case "=~":
		return lower == first
	case "!~":
		return lower != first
	case "has", "contains":
		return strings.Contains(lower, first)
	case "startswith":
		return strings.HasPrefix(lower, first)
	}
	return slices.ContainsFunc(wanted, func(w string) bool { return w == value || operator == "in~" && strings.EqualFold(w, value) })
}

var index = regexp.MustCompile(`\[['"]([^'"]+)['"]\]`)

// columnOf returns the value at a path such as properties.hardwareProfile.vmSize, tags['name'] or tolower(name).
func columnOf(row body.Object, path string) any {
	lower := false
	for _, function := range []string{"tostring(", "tolower("} {
		if inner, is := strings.CutPrefix(strings.ToLower(path), function); is {
			lower = lower || function == "tolower("
			path = strings.TrimSuffix(path[len(path)-len(inner):], ")")
		}
	}
	var at any = row
	for _, name := range pathSteps(path) {
		o, _ := at.(body.Object)
		at = nil
		for key, value := range o {
			if strings.EqualFold(key, name) {
				at = value
			}
		}
	}
	if text, is := at.(string); is && lower {
		return strings.ToLower(text)
	}
	return at
}

// pathSteps splits a path at its dots, but not at those inside of brackets.
func pathSteps(path string) []string {
	var out []string
	for i, part := range strings.Split(index.ReplaceAllString(path, "\x00$1\x00"), "\x00") {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		for name := range strings.SplitSeq(part, ".") {
			if name = strings.TrimSpace(name); name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}

// projectRows keeps columns, with new names where they have one.
func projectRows(rows []body.Object, columns string, once bool) ([]body.Object, error) {
	var out []body.Object
	seen := map[string]bool{}
	for _, row := range rows {
		kept := body.Object{}
		for _, column := range splitOutside(columns, ',') {
			name, path, renamed := strings.Cut(column, "=")
			if !renamed {
				path = name
			}
			kept[strings.TrimSpace(name)] = columnOf(row, strings.TrimSpace(path))
		}
		if key := fmt.Sprint(kept); !once || !seen[key] {
			seen[key] = true
			out = append(out, kept)
		}
	}
	return out, nil
}

func orderRows(rows []body.Object, by string) []body.Object {
	column, direction, _ := strings.Cut(by, " ")
	slices.SortStableFunc(rows, func(a, b body.Object) int {
		order := strings.Compare(fmt.Sprint(columnOf(a, column)), fmt.Sprint(columnOf(b, column)))
		if !strings.EqualFold(strings.TrimSpace(direction), "asc") {
			order = -order // descending is the language's default
		}
		return order
	})
	return rows
}

// countRows answers "summarize count() by column", whose count may have a name.
func countRows(rows []body.Object, rest string) ([]body.Object, error) {
	what, column, _ := strings.Cut(rest, " by ")
	name, function, named := strings.Cut(what, "=")
	if !named {
		name, function = "count_", what
	}
	if strings.TrimSpace(function) != "count()" {
		return nil, refuseQuery("the aggregation '%s' is not served by the simulator", function)
	}
	name, column = strings.TrimSpace(name), strings.TrimSpace(column)
	if column == "" {
		return []body.Object{{name: len(rows)}}, nil
	}
	var out []body.Object
	for _, row := range rows {
		value := columnOf(row, column)
		at := slices.IndexFunc(out, func(o body.Object) bool { return fmt.Sprint(o[column]) == fmt.Sprint(value) })
		if at < 0 {
			at, out = len(out), append(out, body.Object{column: value, name: 0})
		}
		out[at][name] = out[at][name].(int) + 1
	}
	return out, nil
}
