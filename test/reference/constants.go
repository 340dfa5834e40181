package reference

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// constant is a constant of the code with its comment.
type constant struct {
	name, value, comment string
	// group is the comment of the block that it is in.
	group string
	// kind is the name of its type, or "".
	kind string
}

// imported are the values of constants that are taken from Cluster API.
var imported = map[string]string{"ReadyCondition": clusterv1.ReadyCondition, "InternalErrorReason": clusterv1.InternalErrorReason}

// readConstants returns the constants with texts in a package of the repository, in the order of the files.
func readConstants(root fs.FS, folder string) ([]constant, error) {
	files, err := fs.Glob(root, folder+"/*.go")
	if err != nil {
		return nil, err
	}
	var out []constant
	known := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		raw, err := fs.ReadFile(root, file)
		if err != nil {
			return nil, err
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), path.Base(file), raw, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, declaration := range syntax.Decls {
			block, ok := declaration.(*ast.GenDecl)
			if !ok || block.Tok != token.CONST {
				continue
			}
			for _, spec := range block.Specs {
				c, err := readConstant(block, spec.(*ast.ValueSpec), known)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", file, err)
				}
				if c != nil {
					known[c.name] = c.value
					out = append(out, *c)
				}
			}
		}
	}
	return out, nil
}

// readConstant returns a constant, or nil if it is no text of its own. known are the constants before it.
func readConstant(block *ast.GenDecl, spec *ast.ValueSpec, known map[string]string) (*constant, error) {
	if len(spec.Names) != 1 || len(spec.Values) != 1 || !spec.Names[0].IsExported() {
		return nil, nil
	}
	c := &constant{name: spec.Names[0].Name}
	switch value := spec.Values[0].(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(value.Value)
		if err != nil || value.Kind != token.STRING {
			return nil, err
		}
		c.value = text
	case *ast.BinaryExpr:
		left, _ := value.X.(*ast.Ident)
		right, _ := value.Y.(*ast.BasicLit)
		if left == nil || right == nil || right.Kind != token.STRING {
			return nil, nil
		}
		text, err := strconv.Unquote(right.Value)
		if err != nil {
			return nil, err
		}
		c.value = known[left.Name] + text
	case *ast.SelectorExpr:
		from, _ := value.X.(*ast.Ident)
		if from == nil || from.Name != "clusterv1" {
			return nil, nil
		}
		if c.value = imported[value.Sel.Name]; c.value == "" {
			return nil, fmt.Errorf("%s is clusterv1.%s: add it to imported in test/reference", c.name, value.Sel.Name)
		}
	default:
		return nil, nil
	}
	comment := spec.Doc
	if comment == nil {
		comment = block.Doc
	} else {
		c.group = strings.TrimSpace(block.Doc.Text())
	}
	// The comment begins with the name of the constant, which stands for its value.
	c.comment = strings.TrimSpace(strings.ReplaceAll(comment.Text(), c.name, c.value))
	if kind, ok := spec.Type.(*ast.Ident); ok {
		c.kind = kind.Name
	}
	return c, nil
}

// readReasons returns the constants of the API and those of identities, whose codes are reasons, too.
func readReasons(root fs.FS) (constants, codes []constant, err error) {
	if constants, err = readConstants(root, "api/v1beta1"); err != nil {
		return nil, nil, err
	}
	codes, err = readConstants(root, "internal/identity")
	return constants, codes, err
}

// renderConditions returns the page of condition types and reasons.
func renderConditions(root fs.FS) (*page, error) {
	constants, codes, err := readReasons(root)
	if err != nil {
		return nil, err
	}
	p := newPage("Conditions and reasons", "Look up the meaning of a condition type or reason. [Conditions](../conditions.md) has the remedies.")
	p.heading(2, "Condition types")
	p.paragraph("The column Meaning names the resources that a condition describes. It is True if they exist and match the spec. Other meanings are written out.")
	var group string
	var rows [][]string
	first := true
	flush := func() {
		if len(rows) > 0 {
			switch {
			case group != "":
				p.paragraph(plain(group))
			case !first:
				p.paragraph("Other conditions.")
			}
			first = false
			p.table([]string{"Type", "Meaning"}, rows)
		}
		rows = nil
	}
	for _, c := range constants {
		if strings.HasSuffix(c.name, "Condition") {
			if c.group != group {
				flush()
			}
			group = c.group
			rows = append(rows, []string{code(c.value), describe(c)})
		}
	}
	flush()
	p.heading(2, "Reasons")
	p.paragraph("If a reason needs action, a person has to act, and the condition `Stalled` has the same reason. Other reasons end without a change of the object or its identity. The column Meaning names the resources or objects with the reason, or explains it.")
	seen := map[string]bool{}
	for _, c := range append(constants, slices.DeleteFunc(codes, func(c constant) bool { return c.kind != "Code" })...) {
		if (strings.HasSuffix(c.name, "Reason") || c.kind == "Code") && !seen[c.value] {
			seen[c.value] = true
			action := "no"
			if status.NeedsAction(c.value) {
				action = "yes"
			}
			rows = append(rows, []string{code(c.value), action, describe(c)})
		}
	}
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	p.table([]string{"Reason", "Needs action", "Meaning"}, rows)
	return p, nil
}

// describe returns the comment of a constant without its name.
func describe(c constant) string {
	text := strings.TrimPrefix(c.comment, c.value+" ")
	for _, verb := range []string{"is the reason of ", "is the condition of ", "is ", "means that ", "means "} {
		if rest, ok := strings.CutPrefix(text, verb); ok {
			return plain(strings.ToUpper(rest[:1]) + rest[1:])
		}
	}
	return plain(text)
}

// normalMeanings are the meanings of Normal events whose reasons have another meaning in conditions.
var normalMeanings = map[string]string{
	infrav1.DriftedReason: "The list of intended writes of an observed object changed.",
	infrav1.InUseReason:   "A Secret that waits with its deletion, because identities in use need it.",
}

// renderEvents returns the page of the reasons of events.
func renderEvents(root fs.FS) (*page, error) {
	changes, err := readConstants(root, "internal/arm")
	if err != nil {
		return nil, err
	}
	constants, codes, err := readReasons(root)
	if err != nil {
		return nil, err
	}
	p := newPage("Reasons of events", "Look up the reason of an event. [Events](../events.md) describes the notes of events.")
	var rows [][]string
	for _, c := range changes {
		if c.kind == "ChangeKind" {
			rows = append(rows, []string{"Normal", code(c.value), describe(c)})
		}
	}
	normal := []string{"Ready", "OwnerRefNotSet", "ClusterNotFound", "AzureClusterNotFound", "ControlPlaneNotFound"}
	seen := map[string]bool{}
	for _, c := range append(constants, slices.DeleteFunc(codes, func(c constant) bool { return c.kind != "Code" })...) {
		if !strings.HasSuffix(c.name, "Reason") && c.kind != "Code" || seen[c.value] {
			continue
		}
		seen[c.value] = true
		if meaning := normalMeanings[c.value]; meaning != "" {
			rows = append(rows, []string{"Normal", code(c.value), meaning})
		}
		switch {
		case slices.Contains(normal, c.value):
			rows = append(rows, []string{"Normal", code(c.value), describe(c)})
		case status.HasWarnings(c.value):
			rows = append(rows, []string{"Warning", code(c.value), describe(c)})
		}
	}
	slices.SortStableFunc(rows, func(a, b []string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) })
	p.table([]string{"Type", "Reason", "Meaning"}, rows)
	return p, nil
}

// renderAnnotations returns the page of annotations, labels, finalizers and tags.
func renderAnnotations(root fs.FS) (*page, error) {
	constants, err := readConstants(root, "api/v1beta1")
	if err != nil {
		return nil, err
	}
	p := newPage("Annotations, labels, finalizers and tags", "Look up the names that the provider reads and writes. [The architecture](../../architecture.md#annotations) describes the writers of each annotation and the effect of forged content.")
	for _, part := range []struct {
		title  string
		belong func(name string) bool
	}{
		{"Annotations", func(name string) bool { return strings.HasSuffix(name, "Annotation") }},
		{"Labels", func(name string) bool { return strings.HasSuffix(name, "Label") || strings.HasPrefix(name, "Label") }},
		{"Finalizers", func(name string) bool { return strings.HasSuffix(name, "Finalizer") }},
		{"Tags of Azure resources", isTag},
	} {
		var rows [][]string
		for _, c := range constants {
			if part.belong(c.name) {
				rows = append(rows, []string{code(c.value), describe(c)})
			}
		}
		p.heading(2, part.title)
		p.table([]string{"Name", "Meaning"}, rows)
	}
	return p, nil
}

func isTag(name string) bool {
	return strings.HasSuffix(name, "Tag") || strings.HasSuffix(name, "TagPrefix") || strings.HasPrefix(name, "Tag")
}
