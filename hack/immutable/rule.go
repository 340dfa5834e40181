package main

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const (
	prefix    = "// +capz:immutable:"
	generated = "// +kubebuilder:validation:XValidation:"
)

// guards are the conditions under which a field can still change.
var guards = map[string]string{
	// An agent pool was created if its status, or a field that the provider sets afterwards, has a value.
	"agentPoolMade": "!has(self.spec) || !has(oldSelf.spec) || !(has(oldSelf.spec.providerIDList) && size(oldSelf.spec.providerIDList) > 0) && " +
		"!(has(oldSelf.status) && (has(oldSelf.status.ready) && oldSelf.status.ready || has(oldSelf.status.initialization) && has(oldSelf.status.initialization.provisioned) && oldSelf.status.initialization.provisioned))",
}

// forms are the rules by how an absent value counts. X stands for the path.
var forms = map[string]string{
	"exact":    "self.X == oldSelf.X",
	"optional": "has(self.X) == has(oldSelf.X) && (!has(self.X) || self.X == oldSelf.X)",
	"once":     "!has(oldSelf.X) || (has(self.X) && self.X == oldSelf.X)",
	"text":     "(has(self.X) && self.X != '') == (has(oldSelf.X) && oldSelf.X != '') && (!(has(self.X) && self.X != '') || self.X == oldSelf.X)",
	"flag":     "(has(self.X) && self.X) == (has(oldSelf.X) && oldSelf.X)",
	"default":  "(has(self.X) ? self.X : DEFAULT) == (has(oldSelf.X) ? oldSelf.X : DEFAULT)",
}

var argument = regexp.MustCompile(`^(\w+)="([^"]*)"(?:,|$)`)

// rewrite writes the rule of each marker in a file below it. Errors begin with the line.
func rewrite(file []byte) ([]byte, error) {
	lines := strings.Split(string(file), "\n")
	var out bytes.Buffer
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		indent, marker, found := strings.Cut(line, prefix)
		out.WriteString(line)
		if i < len(lines)-1 {
			out.WriteByte('\n')
		}
		if !found || strings.TrimSpace(indent) != "" {
			continue
		}
		rule, err := ruleOf(marker)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i+1, err)
		}
		out.WriteString(indent + rule + "\n")
		if i+1 < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i+1]), generated) {
			i++
		}
	}
	return out.Bytes(), nil
}

// ruleOf returns the marker of controller-gen for the arguments of one of ours.
func ruleOf(marker string) (string, error) {
	values := map[string]string{}
	for rest := marker; rest != ""; {
		found := argument.FindStringSubmatch(rest)
		if found == nil {
			return "", fmt.Errorf("%q is not a list of name=\"value\"", rest)
		}
		if !slices.Contains([]string{"field", "as", "default", "guard", "because"}, found[1]) {
			return "", fmt.Errorf("no argument is called %s", found[1])
		}
		values[found[1]] = found[2]
		rest = rest[len(found[0]):]
	}
	if values["default"] != "" {
		values["as"] = "default"
	}
	path, below := strings.CutPrefix(values["field"], ".")
	form, known := forms[values["as"]]
	guard, guarded := guards[values["guard"]]
	switch {
	case !below || values["because"] == "":
		return "", fmt.Errorf("field=\".path\" and because=\"...\" are needed")
	case !known:
		return "", fmt.Errorf("as=%q: use exact, optional, once, text or flag, or set default", values["as"])
	case values["guard"] != "" && !guarded:
		return "", fmt.Errorf("no guard is called %s", values["guard"])
	}
	rule := strings.NewReplacer("X", path, "DEFAULT", values["default"]).Replace(form)
	if guarded {
		rule = guard + " || (" + rule + ")"
	}
	name := path[strings.LastIndex(path, ".")+1:]
	return fmt.Sprintf("%srule=%q,message=%q,fieldPath=%q,reason=\"FieldValueForbidden\"", generated, rule,
		name+" cannot change "+values["because"], values["field"]), nil
}
