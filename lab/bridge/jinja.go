package bridge

import (
	"fmt"
	"regexp"
	"strings"
)

// jinjaExpression matches one {{ ... }}, with Jinja's whitespace-control dashes.
var (
	jinjaExpression = regexp.MustCompile(`\{\{-?\s*(.*?)\s*-?\}\}`)
	jinjaSubscript  = regexp.MustCompile(`\[\s*(?:"([^"]*)"|'([^']*)')\s*\]`)
	jinjaVariable   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
)

func isJinjaHeader(line string) bool {
	return strings.ReplaceAll(strings.TrimSpace(line), " ", "") == "##template:jinja"
}

// instanceMetadata returns what cloud-init's Azure data source offers to templates, by dotted name.
// https://cloudinit.readthedocs.io/en/latest/explanation/instancedata.html
func instanceMetadata(g guest) map[string]string {
	m := map[string]string{}
	for name, value := range map[string]string{
		"local_hostname":    g.ComputerName,
		"instance_id":       g.VMID,
		"region":            g.Location,
		"availability_zone": g.Zone,
		"cloud_name":        "azure",
		"platform":          "azure",
	} {
		m[name] = value
		m["v1."+name] = value
	}
	m["ds.meta_data.local_hostname"] = g.ComputerName
	m["ds.meta_data.hostname"] = g.ComputerName
	m["ds.meta_data.instance_id"] = g.VMID
	m["ds.meta_data.instance-id"] = g.VMID
	return m
}

// renderJinja replaces the {{ variables }} of a cloud-config. A variable that the data source does
// not have becomes CI_MISSING_JINJA_VAR/<name>, as cloud-init does. Statements, filters and
// comments are refused: the lab knows variables only.
func renderJinja(text string, metadata map[string]string) (string, error) {
	for _, block := range []string{"{%", "{#"} {
		if i := strings.Index(text, block); i >= 0 {
			return "", fmt.Errorf("line %d: %s ... is a Jinja block; the lab renders {{ variables }} only", lineOf(text, i), block)
		}
	}
	var out strings.Builder
	last := 0
	for _, m := range jinjaExpression.FindAllStringSubmatchIndex(text, -1) {
		expression := text[m[2]:m[3]]
		name := jinjaSubscript.ReplaceAllString(expression, ".$1$2")
		if !jinjaVariable.MatchString(name) {
			return "", fmt.Errorf("line %d: {{ %s }} is not a plain variable; the lab renders variables only", lineOf(text, m[0]),
				abbreviateText(expression, 60))
		}
		value, ok := metadata[name]
		if !ok {
			value = "CI_MISSING_JINJA_VAR/" + name[strings.LastIndexByte(name, '.')+1:]
		}
		out.WriteString(text[last:m[0]])
		out.WriteString(value)
		last = m[1]
	}
	out.WriteString(text[last:])
	return out.String(), nil
}

func lineOf(text string, offset int) int { return 1 + strings.Count(text[:offset], "\n") }
