package architecture

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestFieldsOfMachinesOnly compares the fields that the page of machine pools lists with those that an AzureMachine has and the template of an
// AzureMachinePool lacks. The rest of the sentence is about identities, tags and zones, and providerID is not a user's.
func TestFieldsOfMachinesOnly(t *testing.T) {
	raw, err := os.ReadFile("../../docs/book/selfmanaged/machine-pools.md")
	if err != nil {
		t.Fatal(err)
	}
	sentence := regexp.MustCompile(`(?s)The fields (.*?) of an AzureMachine are not among them`).FindStringSubmatch(string(raw))
	if sentence == nil {
		t.Fatal("the page does not list the fields that pools lack")
	}
	var listed []string
	for _, field := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(sentence[1], -1) {
		listed = append(listed, field[1])
	}
	pool := append(jsonFields(reflect.TypeFor[infrav1.AzureMachinePoolMachineTemplate]()), jsonFields(reflect.TypeFor[infrav1.AzureMachinePoolSpec]())...)
	var want []string
	for _, field := range jsonFields(reflect.TypeFor[infrav1.AzureMachineSpec]()) {
		if !slices.Contains(pool, field) {
			want = append(want, field)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Errorf("fields of an AzureMachine that pools lack (-code +page):\n%s", diff)
	}
}

// jsonFields returns the names of the fields of a type, with those of embedded types.
func jsonFields(of reflect.Type) (out []string) {
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name != "":
			out = append(out, name)
		case field.Anonymous:
			out = append(out, jsonFields(field.Type)...)
		}
	}
	return out
}
