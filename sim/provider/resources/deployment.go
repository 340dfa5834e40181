package resources

import (
	"encoding/json"
	"errors"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
	"sigs.k8s.io/cluster-api-provider-azure/sim/template"
)

// Deployments is the full name of the type.
const Deployments = "Microsoft.Resources/deployments"

// deploymentType returns the type of deployments to a resource group. The server sends one request for each resource of a
// deployment, because such a request is handled like any other; see Progress. No recording has a deployment: answers
// follow https://learn.microsoft.com/rest/api/resources/deployments and the SDK's models, and the times are guesses.
func deploymentType() *provider.Type {
	return &provider.Type{
		Name:             Deployments,
		APIVersions:      []string{"2025-04-01", "2024-11-01", "2024-03-01", "2022-09-01", "2021-04-01", "2020-10-01", "2020-06-01"},
		Style:            provider.Deployment,
		Create:           provider.Timing{HTTP: 1500 * time.Millisecond, LRO: time.Second, Spread: 0.2},
		Delete:           provider.Timing{HTTP: 300 * time.Millisecond, LRO: 5 * time.Second, Spread: 0.2},
		DeleteRetryAfter: 15,
		StateNew:         "Accepted",
		Untracked:        true,
		Works:            true,
		// https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors
		Missing: func(c *provider.Call) *provider.Error {
			return provider.Errorf(404, "DeploymentNotFound", "Deployment '%s' could not be found.", c.ID.Name())
		},
		Prepare: prepareDeployment,
		Finish:  finishDeployment,
		View: func(_ *provider.Call, it *provider.Item) {
			if body.String(it.Body, "properties.provisioningState") == "Updating" {
				body.Set(it.Body, "properties.provisioningState", "Accepted")
			}
		},
		Reads: map[string]func(*provider.Call, *provider.Item) (*provider.Reply, error){
			"operations": func(c *provider.Call, it *provider.Item) (*provider.Reply, error) {
				return provider.OK(listOperations(c, it.Resource)), nil
			},
		},
		Actions: map[string]*provider.Action{
			"exporttemplate": {Start: func(_ *provider.Call, r *store.Resource) (*provider.Reply, error) {
				return provider.OK(body.Object{"template": body.Child(r.Secret, "template")}), nil
			}},
		},
	}
}

// complete is the mode in which a deployment deletes the resources of the group that are not in its template.
const complete = "Complete"

// asked are the properties of a deployment that are served.
var asked = []string{"mode", "template", "parameters", "expressionEvaluationOptions"}

// readTemplate parses the template of a deployment with its parameters.
func readTemplate(c *provider.Call, properties body.Object) (*template.Template, error) {
	if c.ID.ResourceGroup == "" {
		return nil, provider.GatewayErrorf(501, "NotImplemented", "Deployments to '%s' are not simulated; deploy to a resource group.",
			c.ID.Scope)
	}
	for key, v := range body.Sorted(properties) {
		if v != nil && !slices.Contains(asked, key) {
			return nil, provider.GatewayErrorf(501, "NotImplemented", "The property '%s' of deployments is not simulated.", key)
		}
	}
	switch mode := body.String(properties, "mode"); {
	case !strings.EqualFold(mode, "Incremental") && !strings.EqualFold(mode, complete):
		return nil, provider.GatewayErrorf(400, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: 'Error converting value \"%s\" to type 'DeploymentMode'. Path 'properties.mode', line 1, position 1.'.", mode)
	}
	document := body.Child(properties, "template")
	if document == nil {
		return nil, provider.GatewayErrorf(400, "InvalidRequestContent", "The request content was invalid: 'The deployment has no template.'.")
	}
	group := c.FindGroup()
	if group == nil {
		return nil, provider.ResourceGroupNotFound(c.ID.ResourceGroup)
	}
	subscription := "/subscriptions/" + c.ID.Subscription
	t, err := template.Parse(document, body.Child(properties, "parameters"), template.Environment{
		ResourceGroup: c.RenderResource(group),
		Subscription: body.Object{"id": subscription, "subscriptionId": c.ID.Subscription, "tenantId": c.Tenant,
			"displayName": "Simulated " + strings.Split(c.ID.Subscription, "-")[0]},
		Versions: func(typ string) []string {
			if t := c.TypeOf(typ); t != nil {
				return t.ListVersions()
			}
			return nil
		},
		Reference: func(id, apiVersion string) (map[string]any, error) { return resolveReference(c, id, apiVersion) },
	})
	var invalid *template.Error
	if errors.As(err, &invalid) {
		return nil, provider.GatewayErrorf(400, "InvalidTemplate", "Deployment template validation failed: '%s'.", invalid.Message)
	}
	return t, err
}

// resolveReference returns the value of reference(): a resource as a GET in the api-version shows it, without the parts that are
// in its ID.
func resolveReference(c *provider.Call, id, apiVersion string) (map[string]any, error) {
	get, err := c.CallOn("GET", id)
	if err != nil || get.Type == nil || get.ID.IsCollection() {
		return nil, &template.Error{Message: "The resource '" + id + "' that the template refers to is none."}
	}
	get.APIVersion, get.Internal = apiVersion, false
	rep, err := get.ReadResource()
	if err != nil {
		return nil, err
	}
	shown, _ := rep.Body.(body.Object)
	for _, key := range []string{"id", "name", "type", "etag"} {
		delete(shown, key)
	}
	shown["apiVersion"], shown["resourceId"], shown["subscriptionId"], shown["resourceGroupName"] = apiVersion, id, get.ID.Subscription,
		get.ID.ResourceGroup
	return shown, nil
}

func prepareDeployment(c *provider.Call, d *provider.Draft) error {
	properties := body.Child(d.Sent, "properties")
	t, err := readTemplate(c, properties)
	if err != nil {
		return err
	}
	d.New["properties"] = initialProperties(c, t, properties)
	delete(d.Secret, "operation")
	d.Secret["template"], d.Secret["client"] = properties["template"], c.Principal.ClientID
	d.Secret["parameters"], d.Secret["mode"] = body.Child(properties, "parameters"), body.String(d.New, "properties.mode")
	return nil
}

// AnswerValidate answers POST deployments/{name}/validate.
func AnswerValidate(c *provider.Call) (*provider.Reply, error) {
	properties := body.Child(c.Body, "properties")
	t, err := readTemplate(c, properties)
	if err != nil {
		return nil, err
	}
	if err := preflight(c, t); err != nil {
		return nil, err
	}
	shown := initialProperties(c, t, properties)
	shown["provisioningState"], shown["validatedResources"] = store.Succeeded, resourceIDs(t)
	return provider.OK(body.Object{"id": c.CanonicalID(), "name": c.ID.Name(), "type": Deployments, "properties": shown}), nil
}

func resourceIDs(t *template.Template) []any {
	out := []any{}
	for _, r := range t.Resources {
		if !r.Skipped {
			out = append(out, body.Object{"id": r.ID})
		}
	}
	return out
}

// initialProperties returns the properties that a deployment shows from its beginning. Secure parameters are shown without their
// values.
func initialProperties(c *provider.Call, t *template.Template, properties body.Object) body.Object {
	parameters := body.Object{}
	for _, p := range t.Parameters() {
		shown := body.Object{"type": p.Type}
		if !p.Secure {
			shown["value"] = p.Value()
		}
		parameters[p.Name] = shown
	}
	raw, _ := json.Marshal(properties["template"])
	hash := fnv.New64a()
	_, _ = hash.Write(raw)
	out := body.Object{
		"templateHash": strconv.FormatUint(hash.Sum64(), 10), "mode": "Incremental", "parameters": parameters,
		"timestamp": c.Now().Format(timeForm), "duration": "PT0S",
		"correlationId": c.RequestID, "providers": listProviders(c, t), "dependencies": listDependencies(t),
	}
	if strings.EqualFold(body.String(properties, "mode"), complete) {
		out["mode"] = complete
	}
	if id := c.Header.Get("x-ms-correlation-request-id"); id != "" {
		out["correlationId"] = id
	}
	return out
}

const timeForm = "2006-01-02T15:04:05.0000000Z"

// listProviders returns the types that are deployed, by namespace.
func listProviders(c *provider.Call, t *template.Template) []any {
	out := []any{}
	for _, r := range t.Resources {
		namespace, kind, _ := strings.Cut(r.Type, "/")
		at := slices.IndexFunc(out, func(v any) bool { return strings.EqualFold(body.String(v.(body.Object), "namespace"), namespace) })
		if at < 0 {
			at, out = len(out), append(out, body.Object{"namespace": namespace, "resourceTypes": []any{}})
		}
		location := any(nil)
		if r.Location != "" {
			location = provider.NormalizeLocation(r.Location)
		}
		list := out[at].(body.Object)["resourceTypes"].([]any)
		if !slices.ContainsFunc(list, func(v any) bool { return strings.EqualFold(body.String(v.(body.Object), "resourceType"), kind) }) {
			out[at].(body.Object)["resourceTypes"] = append(list, body.Object{"resourceType": kind, "locations": []any{location}})
		}
	}
	return out
}

func targetResource(r *template.Resource) body.Object {
	return body.Object{"id": r.ID, "resourceType": r.Type, "resourceName": r.Name}
}

func listDependencies(t *template.Template) []any {
	out := []any{}
	for _, r := range t.Resources {
		on := []any{}
		for _, o := range r.After {
			on = append(on, targetResource(o))
		}
		if len(on) > 0 {
			o := targetResource(r)
			o["dependsOn"] = on
			out = append(out, o)
		}
	}
	return out
}
