package admission

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/config/crd"
)

// perCall and perObject are the limits of an API server for the cost of rules: PerCallLimit and RuntimeCELCostBudget of k8s.io/apiserver.
const perCall, perObject = 1000000, 10000000

// Schema is the schema of a kind's CRD.
type Schema struct {
	// Spec is that of spec.
	Spec apiextensionsv1.JSONSchemaProps

	object part
	// status is that of the status, nil without one.
	status *part
}

// part is the schema of an object, or of a property of it.
type part struct {
	// path leads to the property, nil for the object.
	path       *field.Path
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
	// rules compiles the rules.
	rules func() *cel.Validator
}

func newPart(path *field.Path, properties *apiextensions.JSONSchemaProps) (part, error) {
	p := part{path: path}
	var err error
	if p.validator, _, err = validation.NewSchemaValidator(properties); err != nil {
		return part{}, err
	}
	if p.structural, err = structuralschema.NewStructural(properties); err != nil {
		return part{}, err
	}
	p.rules = sync.OnceValue(func() *cel.Validator { return cel.NewValidator(p.structural, path == nil, perCall) })
	return p, nil
}

// schemas are those that were loaded, by plural name. They do not change, and plans of one process share them.
var schemas sync.Map

// LoadSchema returns the schema of the CRD with a plural name. Its rules are compiled when the first object is checked, which takes half a
// second, once in a process.
func LoadSchema(plural string) (*Schema, error) {
	if known, ok := schemas.Load(plural); ok {
		return known.(*Schema), nil
	}
	read, err := readSchema(plural)
	if err != nil {
		return nil, err
	}
	kept, _ := schemas.LoadOrStore(plural, read)
	return kept.(*Schema), nil
}

// readSchema reads the CRD with a plural name.
func readSchema(plural string) (*Schema, error) {
	raw, err := crd.Files.ReadFile("bases/infrastructure.cluster.x-k8s.io_" + plural + ".yaml")
	if err != nil {
		return nil, err
	}
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(raw, &definition); err != nil {
		return nil, err
	}
	properties := definition.Spec.Versions[0].Schema.OpenAPIV3Schema
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(properties, &internal, nil); err != nil {
		return nil, err
	}
	s := &Schema{Spec: properties.Properties["spec"]}
	if s.object, err = newPart(nil, &internal); err != nil {
		return nil, fmt.Errorf("%s: %w", plural, err)
	}
	if status, has := internal.Properties["status"]; has {
		of, err := newPart(field.NewPath("status"), &status)
		if err != nil {
			return nil, fmt.Errorf("status of %s: %w", plural, err)
		}
		s.status = &of
	}
	return s, nil
}

// Validate returns the errors with which an API server refuses a new object because of the schema of its CRD.
func (s *Schema) Validate(ctx context.Context, object client.Object) (field.ErrorList, error) {
	raw, err := encodeObject(object, object.GetObjectKind().GroupVersionKind())
	if err != nil {
		return nil, err
	}
	if raw, err = s.fillDefaults(raw); err != nil {
		return nil, err
	}
	var content map[string]any
	if err := utiljson.Unmarshal(raw, &content); err != nil {
		return nil, err
	}
	return s.object.validate(ctx, content, nil), nil
}

// pruneAndDefault drops fields that the schema does not know and fills in its defaults.
func (p *part) pruneAndDefault(value map[string]any) {
	pruning.Prune(value, p.structural, p.path == nil)
	defaulting.PruneNonNullableNullsWithoutDefaults(value, p.structural)
	defaulting.Default(value, p.structural)
}

// validate returns the errors of a value against the schema and its rules. old is nil for a new one.
func (p *part) validate(ctx context.Context, value, old map[string]any) field.ErrorList {
	errs := validation.ValidateCustomResource(p.path, value, p.validator)
	errs = append(errs, listtype.ValidateListSetsAndMaps(p.path, p.structural, value)...)
	if len(errs) > 0 {
		return errs // Rules are evaluated only on objects that match the schema.
	}
	var before any
	if old != nil {
		before = old
	}
	errs, _ = p.rules().Validate(ctx, p.path, p.structural, value, before, perObject)
	return errs
}
