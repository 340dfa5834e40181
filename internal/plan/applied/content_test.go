package applied

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// contents are contents as they are stored.
var contents = map[string]struct {
	reason  string
	content Content
	stored  string
}{
	"nothing":    {"an object without content has no annotation", Content{}, ""},
	"new object": {"it was created here and has no plan yet", Content{Migration: &Migration{}}, `{"migration":{}}`},
	"empty plan": {"a plan was stored", Content{Applied: Paths{}}, `{"applied":{}}`},
	"no more":    {"the object had an inventory", Content{Inventory: Inventory{Object: "A/b/c"}}, `{"inventory":{"object":"A/b/c"}}`},
	"in order": {"nothing differed at the migration", Content{Migration: &Migration{Kept: map[string][]string{}}},
		`{"migration":{"kept":{}}}`},
	"owner alone": {"the ID is stored before the first resource", Content{OwnerID: "o"}, `{"ownerID":"o"}`},
	"all parts": {"one annotation has all of it", Content{
		Applied:   Paths{"g": {"", "/tags/a"}, "*": {"?/tags/b"}},
		Inventory: Inventory{Object: "A/b/c", Created: []arm.ID{"/a"}, Adopted: []arm.ID{"/b"}},
		OwnerID:   "o", Migration: &Migration{Kept: map[string][]string{"g": {"1"}}},
	}, `{"applied":{"*":["?/tags/b"],"g":["","/tags/a"]},"inventory":{"object":"A/b/c","created":["/a"],"adopted":["/b"]},"ownerID":"o","migration":{"kept":{"g":["1"]}}}`},
}

func compareContents(want, got Content) string {
	return cmp.Diff(want, got, cmp.AllowUnexported(Content{}))
}

// TestStoreAndRead stores contents and reads them again.
func TestStoreAndRead(t *testing.T) {
	for name, test := range contents {
		t.Run(name, func(t *testing.T) {
			obj := &metav1.ObjectMeta{Annotations: map[string]string{"team": "a"}}
			if changed := test.content.Store(obj); changed != (test.stored != "") {
				t.Errorf("%s: changed %t", test.reason, changed)
			}
			if got := obj.Annotations[infrav1.AppliedAnnotation]; got != test.stored || obj.Annotations["team"] != "a" {
				t.Errorf("%s: stored %s, want %s", test.reason, got, test.stored)
			}
			if diff := compareContents(test.content, Read(obj.Annotations)); diff != "" {
				t.Errorf("%s (-stored +read):\n%s", test.reason, diff)
			}
			if test.content.Store(obj) {
				t.Error("the same content changes nothing")
			}
			if (Content{}).Store(obj) != (test.stored != "") || len(obj.Annotations) != 1 {
				t.Errorf("content that is empty by now has no annotation, but: %v", obj.Annotations)
			}
		})
	}
}

// TestDamagedPartsAreIgnored reads values that users can write: parts that cannot be decoded are missing, and the others count.
func TestDamagedPartsAreIgnored(t *testing.T) {
	createdHere := &Migration{}
	for name, test := range map[string]struct {
		reason, stored string
		want           Content
	}{
		"no JSON": {"nothing is known", `{"applied":{"g":[""]}`, Content{Migration: createdHere, damaged: true}},
		"text":    {"nothing is known", `"g"`, Content{Migration: createdHere, damaged: true}},
		"list":    {"nothing is known", `["g"]`, Content{Migration: createdHere, damaged: true}},
		"too long": {"no annotation is as long", `{"ownerID":"` + strings.Repeat("o", maxSize) + `"}`,
			Content{Migration: createdHere, damaged: true}},
		"unknown part": {"a later release may have more", `{"ownerID":"o","more":1}`, Content{OwnerID: "o"}},
		"another plan": {"the other parts count", `{"applied":1,"ownerID":"o","migration":{}}`,
			Content{OwnerID: "o", Migration: createdHere, damaged: true}},
		"another owner": {"the other parts count", `{"applied":{"g":[]},"ownerID":{},"migration":{}}`,
			Content{Applied: Paths{"g": {}}, Migration: createdHere, damaged: true}},
		"another list": {"the resource was planned; no path of it counts", `{"applied":{"g":"","h":["/a"]},"migration":{}}`,
			Content{Applied: Paths{"g": {}, "h": {"/a"}}, Migration: createdHere, damaged: true}},
		"another path": {"an empty path in its place would be a record", `{"applied":{"g":[1,"/a",null]},"migration":{}}`,
			Content{Applied: Paths{"g": {"/a"}}, Migration: createdHere, damaged: true}},
		"another ID": {"the other IDs count", `{"inventory":{"object":"A/b/c","created":[{},"/a"]},"migration":{}}`,
			Content{Inventory: Inventory{Object: "A/b/c", Created: []arm.ID{"/a"}}, Migration: createdHere, damaged: true}},
		"another result": {"all differences are repaired", `{"migration":1}`, Content{Migration: createdHere, damaged: true}},
		"other hashes":   {"all differences are repaired", `{"migration":{"kept":[]}}`, Content{Migration: createdHere, damaged: true}},
		"no result":      {"it stays a first reconciliation", `{"applied":{"g":[]}}`, Content{Applied: Paths{"g": {}}}},
		"empty":          {"a user removed it", "", Content{}},
	} {
		t.Run(name, func(t *testing.T) {
			annotations := map[string]string{infrav1.AppliedAnnotation: test.stored}
			if diff := compareContents(test.want, Read(annotations)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if test.want.damaged && !IsStored(annotations) {
				t.Error("a damaged value shows that something was stored")
			}
		})
	}
}

// TestFormerKeys reads the annotations of v2.0.0-alpha, and replaces them with the first write.
func TestFormerKeys(t *testing.T) {
	createdHere := &Migration{}
	for name, test := range map[string]struct {
		reason string
		stored map[string]string
		want   Content
	}{
		"none": {"the object is new", nil, Content{}},
		"all": {"each has a part", map[string]string{
			"last-applied": `{"g":["","/tags/a"]}`, "inventory": `{"of":"A/b/c","made":["/a"],"adopted":["/b"]}`, "owner-id": "o",
			"taken-over": `{"left":{"g":["1"]}}`,
		}, Content{
			Applied: Paths{"g": {"", "/tags/a"}}, Inventory: Inventory{Object: "A/b/c", Created: []arm.ID{"/a"}, Adopted: []arm.ID{"/b"}},
			OwnerID: "o", Migration: &Migration{Kept: map[string][]string{"g": {"1"}}},
		}},
		"created here": {"no differences stay", map[string]string{"taken-over": "{}"}, Content{Migration: createdHere}},
		"no differences": {"nothing differed", map[string]string{"taken-over": `{"left":{}}`},
			Content{Migration: &Migration{Kept: map[string][]string{}}}},
		"damaged plan":   {"the others count", map[string]string{"last-applied": `{`, "owner-id": "o"}, Content{OwnerID: "o", damaged: true}},
		"damaged list":   {"it names nothing to delete", map[string]string{"inventory": `["/a"]`}, Content{damaged: true}},
		"damaged result": {"all differences are repaired", map[string]string{"taken-over": "x"}, Content{Migration: createdHere, damaged: true}},
		"new key": {"they are read once", map[string]string{"applied": `{"ownerID":"n"}`, "owner-id": "o", "last-applied": `{"g":[""]}`},
			Content{OwnerID: "n"}},
		"damaged new key": {"it does not bring the former ones back", map[string]string{"applied": `{`, "owner-id": "o"},
			Content{Migration: createdHere, damaged: true}},
	} {
		t.Run(name, func(t *testing.T) {
			obj := &metav1.ObjectMeta{Annotations: map[string]string{}}
			for key, value := range test.stored {
				obj.Annotations["sigs.k8s.io/cluster-api-provider-azure-"+key] = value
			}
			got := Read(obj.Annotations)
			if diff := compareContents(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if changed := got.Store(obj); changed != (test.stored != nil) {
				t.Errorf("%s: changed %t", test.reason, changed)
			}
			for _, key := range FormerKeys() {
				if value, has := obj.Annotations[key]; has {
					t.Errorf("the first write removes %s, but it has %s", key, value)
				}
			}
			test.want.damaged = false
			if diff := compareContents(test.want, Read(obj.Annotations)); diff != "" {
				t.Errorf("the upgrade changed the content (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnknownMembersStay stores contents over the value of a later release. It expects that members which only that one knows stay.
func TestUnknownMembersStay(t *testing.T) {
	for name, test := range map[string]struct{ reason, stored, want string }{
		"unchanged":        {"nothing is written", `{"ownerID":"o"}`, `{"ownerID":"o"}`},
		"member":           {"its resources may have no other record", `{"more":{"a":[1]},"ownerID":"o"}`, `{"more":{"a":[1]},"ownerID":"o"}`},
		"nothing else":     {"the annotation stays for it", `{"more":1}`, `{"more":1}`},
		"in the migration": {"the result of the migration has a part more", `{"migration":{"kept":{"g":["1"]},"more":1}}`, `{"migration":{"kept":{"g":["1"]},"more":1}}`},
		"in the inventory": {"it is about the same object", `{"inventory":{"created":["/a"],"more":1,"object":"A/b/c"}}`,
			`{"inventory":{"created":["/a"],"more":1,"object":"A/b/c"}}`},
		"null":     {"it has no content", `{"more":null,"ownerID":"o"}`, `{"ownerID":"o"}`},
		"no JSON":  {"nothing can be read", `{"more":1`, `{"migration":{}}`},
		"old keys": {"a damaged part of this release is written again", `{"applied":1,"more":1}`, `{"migration":{},"more":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			obj := &metav1.ObjectMeta{Annotations: map[string]string{infrav1.AppliedAnnotation: test.stored}}
			changed := Read(obj.Annotations).Store(obj)
			if got := obj.Annotations[infrav1.AppliedAnnotation]; got != test.want || changed != (got != test.stored) {
				t.Errorf("%s: stored %s, want %s; changed %t", test.reason, got, test.want, changed)
			}
			if Read(obj.Annotations).Store(obj) {
				t.Error("the same content changes nothing")
			}
		})
	}
	obj := &metav1.ObjectMeta{Annotations: map[string]string{infrav1.AppliedAnnotation: `{"inventory":{"created":["/a"],"more":1,"object":"A/b/c"}}`}}
	Content{Inventory: Inventory{Object: "A/b/copy"}}.Store(obj)
	if got, want := obj.Annotations[infrav1.AppliedAnnotation], `{"inventory":{"object":"A/b/copy"}}`; got != want {
		t.Errorf("the inventory of another object is dropped as a whole: stored %s, want %s", got, want)
	}
}
