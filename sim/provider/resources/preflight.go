package resources

import (
	"errors"

	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/template"
)

// preflight has the providers check the resources of a template, one after the other in the order of dependencies. Each is written and finished as if
// it were deployed, and all of it is taken back. A resource whose body depends on values that are not known yet, or that needs one that was
// refused, is left out. Azure's providers check less; which of them check what is not published.
// Source: https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-invalid-template#solution-1---validation-errors and
// https://learn.microsoft.com/rest/api/resources/deployments/validate
func preflight(c *provider.Call, t *template.Template) error {
	var problems []*provider.Error
	env := *c.Env
	env.OperationFault, env.RequestFault = nil, nil
	_ = c.Try(func() error {
		done := map[*template.Resource]bool{}
		for range t.Resources { // at most as many rounds as resources
			for _, r := range t.Resources {
				if _, seen := done[r]; seen || !areAll(r.After, done) {
					continue
				}
				problem := tryResource(c, &env, r)
				done[r] = problem == nil
				var refused *provider.Error
				if errors.As(problem, &refused) && refused.Status/100 == 4 {
					problems = append(problems, refused)
				}
			}
		}
		return nil
	})
	if len(problems) == 0 {
		return nil
	}
	e := provider.GatewayErrorf(400, "InvalidTemplateDeployment", "The template deployment '%s' is not valid according to the validation procedure. The tracking id is '%s'. See inner errors for details.", c.ID.Name(), c.RequestID)
	e.Details = problems
	return e
}

// areAll reports whether all resources passed.
func areAll(resources []*template.Resource, passed map[*template.Resource]bool) bool {
	for _, r := range resources {
		if !passed[r] {
			return false
		}
	}
	return true
}

// tryResource writes a resource and finishes it.
func tryResource(c *provider.Call, env *provider.Env, r *template.Resource) error {
	if r.Skipped {
		return nil
	}
	content, err := r.Body()
	if err != nil {
		return err
	}
	put, err := c.CallOn("PUT", r.ID)
	if err != nil || put.Type == nil || put.Type.Name == Deployments {
		return err
	}
	put.Env, put.APIVersion, put.Body, put.Internal = env, r.APIVersion, content, false
	rep, err := put.PutResource()
	if err == nil && rep.Operation != nil {
		put.CompleteOperation(rep.Operation)
	}
	return err
}
