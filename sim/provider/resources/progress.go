package resources

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
	"sigs.k8s.io/cluster-api-provider-azure/sim/template"
)

// Resource Manager asks again when a provider throttles or has trouble. How often is not published.
const (
	tries     = 5
	patience  = 15 * time.Second
	soonAgain = time.Millisecond
)

// IsDeployment reports whether an operation is a deployment. The server's requests carry it on, see Progress.
func IsDeployment(op *store.Operation) bool { return op.Type == Deployments && op.Verb != "delete" }

// step is the result of one resource of a deployment.
type step struct {
	Operation string      `json:"operation,omitempty"` // that it waits for
	State     string      `json:"state,omitempty"`     // "": not begun
	Started   time.Time   `json:"started,omitzero"`
	Ended     time.Time   `json:"ended,omitzero"`
	Status    int         `json:"status,omitempty"` // of the request
	Error     body.Object `json:"error,omitempty"`
	Tries     int         `json:"tries,omitempty"`
	Again     time.Time   `json:"again,omitzero"` // not before then
}

func (s step) hasEnded() bool { return !s.Ended.IsZero() }

// Progress is the progress of a deployment. It is stored in its operation, from where a restarted simulator
// continues.
type Progress struct {
	template *template.Template
	steps    []step
	op       *store.Operation
	c        *provider.Call
}

// Request is one that the server has to make for a deployment.
type Request struct {
	Path, APIVersion string
	Body             body.Object
	Client, Object   string // who deploys

	index int
}

// LoadProgress reads how far the deployment of an operation has come by now. c is a call on the deployment.
func LoadProgress(c *provider.Call, op *store.Operation) (*Progress, error) {
	r := c.Edit(op.ResourceID)
	if r == nil {
		return nil, errors.New("the deployment is gone")
	}
	t, err := readTemplate(c, body.Object{"mode": "Incremental", "template": r.Secret["template"], "parameters": r.Secret["parameters"]})
	if err != nil {
		return nil, err
	}
	p := &Progress{template: t, op: op, c: c, steps: make([]step, len(t.Resources))}
	if have := op.Data["steps"]; have != nil {
		raw, err := json.Marshal(have)
		if err == nil {
			err = json.Unmarshal(raw, &p.steps)
		}
		if err != nil {
			return nil, err
		}
	}
	if body.String(r.Secret, "operation") != op.ID {
		body.Set(r.Body, "properties.provisioningState", "Running")
		r.Secret["operation"] = op.ID
		c.SaveResource(r)
	}
	for i := range p.steps {
		p.checkStep(&p.steps[i], t.Resources[i])
	}
	return p, nil
}

// checkStep sees whether the operation that a step waits for has ended.
func (p *Progress) checkStep(s *step, r *template.Resource) {
	if r.Skipped && !s.hasEnded() {
		s.State, s.Started, s.Ended = store.Succeeded, p.c.Now(), p.c.Now()
	}
	if s.Operation == "" || s.hasEnded() {
		return
	}
	op := p.c.Operation(s.Operation)
	if op != nil && op.IsRunning() {
		return
	}
	s.State, s.Ended = store.Succeeded, p.c.Now()
	if op == nil || op.Status == store.Succeeded {
		return
	}
	s.State = store.Failed
	e := body.Object{"code": "ResourceDeploymentFailure", "target": r.ID,
		"message": fmt.Sprintf("The resource write operation failed to complete successfully, because it reached terminal provisioning state '%s'.", op.Status)}
	if op.Error != nil {
		e["details"] = []any{op.Error}
	}
	s.Error = e
}

// NextRequests returns the requests to be made now.
func (p *Progress) NextRequests() []Request {
	var out []Request
	r := p.c.Get(p.op.ResourceID)
	for i := range p.steps {
		s, of := &p.steps[i], p.template.Resources[i]
		if s.hasEnded() || s.Operation != "" || s.Again.After(p.c.Now()) || !p.isFree(of) {
			continue
		}
		if s.Started.IsZero() {
			s.Started = p.c.Now()
		}
		s.State = "Running"
		content, err := of.Body()
		if err != nil {
			s.Status, s.Error = http.StatusBadRequest,
				body.Object{"code": "InvalidTemplate", "target": of.ID,
					"message": "Unable to process template language expressions for resource '" + of.ID + "' at line '1' and column '1'. '" + err.Error() + "'"}
			s.State, s.Ended = store.Failed, p.c.Now()
			continue
		}
		out = append(out, Request{Path: of.ID, APIVersion: of.APIVersion, Body: content, Client: body.String(r.Secret, "client"),
			Object: p.op.Principal, index: i})
	}
	return out
}

// isFree reports whether all dependencies of a resource are deployed.
func (p *Progress) isFree(r *template.Resource) bool {
	for i, o := range p.template.Resources {
		for _, before := range r.After {
			if o == before && p.steps[i].State != store.Succeeded {
				return false
			}
		}
	}
	return true
}

// RecordAnswer records the answer to a request.
func (p *Progress) RecordAnswer(q Request, rep *provider.Reply, err error) {
	s := &p.steps[q.index]
	var e *provider.Error
	switch {
	case errors.As(err, &e):
	case err != nil:
		e = provider.Errorf(http.StatusInternalServerError, "InternalServerError", "%s", err.Error())
	}
	if e == nil {
		if s.Status = rep.Status; s.Status == 0 {
			s.Status = http.StatusOK
		}
		if rep.Operation != nil {
			s.Operation = rep.Operation.ID
		} else {
			s.State, s.Ended = store.Succeeded, p.c.Now()
		}
		return
	}
	s.Tries++
	s.Status = e.Status
	if (e.Status == http.StatusTooManyRequests || e.Status >= 500 && e.Status != http.StatusNotImplemented) && s.Tries < tries {
		wait := e.RetryAfter
		if wait == 0 {
			wait = patience
		}
		s.Again = p.c.Now().Add(max(p.c.ScaleDuration(wait), soonAgain))
		return
	}
	s.State, s.Ended, s.Error = store.Failed, p.c.Now(), e.InnerObject(false)
	s.Error["target"] = q.Path
}

// ScheduleNext stores the progress and the time of the next step. It returns false when there is nothing left to wait for.
func (p *Progress) ScheduleNext() bool {
	p.op.Data = body.Object{}
	body.Set(p.op.Data, "steps", p.steps)
	defer p.c.PutOperation(p.op)
	var due time.Time
	open := false
	for _, s := range p.steps {
		at := s.Again
		switch {
		case s.hasEnded() || s.Started.IsZero():
			continue
		case s.Operation == "" && at.IsZero():
			at = p.c.Now() // it is being asked for
		case s.Operation != "":
			at = time.Time{}
			if op := p.c.Operation(s.Operation); op != nil {
				at = op.Due
			}
		}
		open = true
		if !at.IsZero() && (due.IsZero() || at.Before(due)) {
			due = at
		}
	}
	if !open {
		return false
	}
	if !due.IsZero() && !due.After(p.c.Now()) {
		due = p.c.Now().Add(soonAgain)
	}
	// Zero when it waits for a stuck operation: it becomes due again when that operation is no longer stuck.
	p.op.Due = due
	return true
}

// finishDeployment runs when nothing is left to be deployed.
func finishDeployment(c *provider.Call, op *store.Operation, r *store.Resource) error {
	p, err := LoadProgress(c, op)
	if err != nil {
		return err
	}
	if p.hasSucceeded() && body.String(r.Secret, "mode") == complete {
		if err := deleteOthers(c, op, p.template); err != nil {
			return err
		}
	}
	stored := c.Edit(r.ID)
	*r = *stored
	properties := body.Child(r.Body, "properties")
	properties["timestamp"], properties["duration"] = c.Now().Format(timeForm), formatDuration(c.Now().Sub(op.Started))
	failed := provider.Errorf(0, "DeploymentFailed",
		"At least one resource deployment operation failed. Please list deployment operations for details. Please see https://aka.ms/arm-deployment-operations for usage details.").WithTarget(r.ID)
	there, outputs := []any{}, body.Object{}
	for i, s := range p.steps {
		switch {
		case s.Error != nil:
			failed.Details = append(failed.Details, innerError(s.Error))
		case s.State == store.Succeeded && !p.template.Resources[i].Skipped:
			there = append(there, body.Object{"id": p.template.Resources[i].ID})
		}
	}
	properties["outputResources"] = there
	if failed.Details == nil {
		declared, err := p.template.Outputs()
		if err != nil {
			failed = provider.Errorf(0, "DeploymentOutputEvaluationFailed",
				"Unable to evaluate template outputs: '%s'. Please see error details and deployment operations. Please see https://aka.ms/arm-common-errors for usage details.", err.Error()).WithTarget(r.ID)
			failed.Details = []*provider.Error{{Code: "InvalidTemplate", Message: err.Error()}}
		}
		for name, o := range declared {
			shown := body.Object{"type": o.Type}
			if o.Type != "SecureString" && o.Type != "SecureObject" {
				shown["value"] = o.Value
			}
			outputs[camelCase(name)] = shown
		}
	}
	if failed.Details == nil {
		properties["outputs"] = outputs
		return nil
	}
	properties["error"] = failed.InnerObject(false)
	c.SaveResource(r)
	return failed
}

// innerError returns a stored error as an inner one.
func innerError(o body.Object) *provider.Error {
	e := &provider.Error{Code: body.String(o, "code"), Message: body.String(o, "message"), Target: body.String(o, "target")}
	for _, d := range body.Objects(o, "details") {
		e.Details = append(e.Details, innerError(d))
	}
	return e
}

// formatDuration is written as ISO 8601.
func formatDuration(d time.Duration) string {
	out := "PT"
	if m := d / time.Minute; m > 0 {
		out += fmt.Sprintf("%dM", m)
	}
	return out + fmt.Sprintf("%.7gS", (d%time.Minute).Seconds())
}

// listOperations returns the operations of a deployment so far, one for each resource.
func listOperations(c *provider.Call, r *store.Resource) []any {
	out := []any{}
	op := c.Operation(body.String(r.Secret, "operation"))
	if op == nil {
		return out
	}
	p, err := LoadProgress(c, op)
	if err != nil {
		return out
	}
	one := func(number int, properties body.Object) {
		id := fmt.Sprintf("%s%04d", op.ID[:8], number)
		out = append(out, body.Object{"id": r.ID + "/operations/" + id, "operationId": id, "properties": properties})
	}
	for i, s := range p.steps {
		if s.Started.IsZero() || p.template.Resources[i].Skipped {
			continue
		}
		ended := s.Ended
		if ended.IsZero() {
			ended = c.Now()
		}
		properties := body.Object{
			"provisioningOperation": "Create", "provisioningState": s.State, "timestamp": ended.Format(timeForm),
			"duration":   formatDuration(ended.Sub(s.Started)),
			"trackingId": op.RequestID, "targetResource": targetResource(p.template.Resources[i]),
		}
		if s.Status != 0 {
			properties["statusCode"] = statusCode(s.Status)
		}
		if s.Error != nil {
			message := body.Object{"error": s.Error}
			if s.Operation != "" {
				message["status"] = store.Failed
			}
			properties["statusMessage"] = message
		}
		one(i+1, properties)
	}
	if op.Status == store.Succeeded {
		one(len(p.steps)+1, body.Object{"provisioningOperation": "EvaluateDeploymentOutput", "provisioningState": store.Succeeded,
			"timestamp": op.Ended.Format(timeForm),
			"duration":  "PT0S", "trackingId": op.RequestID, "statusCode": "OK"})
	}
	return out
}

// statusCode is .NET's name of a status.
func statusCode(status int) string { return strings.ReplaceAll(http.StatusText(status), " ", "") }

// camelCase is a name as Resource Manager writes names of outputs: az vmss create calls its output VMSS, and shows it as vmss. The rule is that
// of Json.NET's CamelCaseNamingStrategy.
func camelCase(name string) string {
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsUpper(r) || i > 0 && i+1 < len(runes) && !unicode.IsUpper(runes[i+1]) {
			break
		}
		runes[i] = unicode.ToLower(r)
	}
	return string(runes)
}
