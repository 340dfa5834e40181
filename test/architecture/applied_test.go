package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMembersOfAppliedAnnotation makes sure that the page on the architecture and the comment of the API list all members of the applied annotation.
// The page has the effects of forged content, which have to be judged for each member.
func TestMembersOfAppliedAnnotation(t *testing.T) {
	source, err := parser.ParseFile(token.NewFileSet(), "../../internal/plan/applied/content.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	ast.Inspect(source, func(n ast.Node) bool {
		declared, is := n.(*ast.TypeSpec)
		if !is || declared.Name.Name != "Content" {
			return true
		}
		for _, field := range declared.Type.(*ast.StructType).Fields.List {
			if field.Tag != nil {
				name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
				want = append(want, name)
			}
		}
		return false
	})
	slices.Sort(want)
	for file, pattern := range map[string]*regexp.Regexp{
		"../../docs/architecture.md":    regexp.MustCompile(`(?m)^\| (\w+) \| [^|]+ \| [^|]+ \| [^|]+ \|$`),
		"../../api/v1beta1/metadata.go": regexp.MustCompile(`(?m)^\t//   - (\w+)[:,]`),
	} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		if _, section, has := strings.Cut(text, "### The applied annotation\n"); has {
			_, section, _ = strings.Cut(section, "|---|---|---|---|\n")
			text, _, _ = strings.Cut(section, "\n\n")
		}
		var got []string
		for _, match := range pattern.FindAllStringSubmatch(text, -1) {
			got = append(got, match[1])
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s lists other members of the applied annotation than internal/plan/applied (-has +listed):\n%s", file, diff)
		}
	}
}
