package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/resources"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// answerDeployments answers paths below a deployment, except reads and actions of a deployment that exists.
func (x *exchange) answerDeployments(rest []string) (*provider.Reply, error, bool) {
	c := x.call
	switch {
	case x.r.Method == "POST" && len(rest) == 3 && rest[2] == "validate":
		if c.ID.ResourceGroup != "" && c.FindGroup() == nil {
			return nil, provider.ResourceGroupNotFound(c.ID.ResourceGroup), true
		}
		rep, err := resources.AnswerValidate(c)
		return rep, err, true
	case x.r.Method == "POST" && len(rest) == 3 && rest[2] == "whatif":
		if c.ID.ResourceGroup != "" && c.FindGroup() == nil {
			return nil, provider.ResourceGroupNotFound(c.ID.ResourceGroup), true
		}
		rep, err := resources.WhatIf(c)
		return rep, err, true
	case x.r.Method == "GET" && len(rest) == 4 && rest[2] == "operationstatuses":
		rep, err := x.answerPoll(rest[3], false)
		return rep, err, true
	}
	return nil, nil, false
}

// stepDeployment takes the deployment of an operation that is due one step further: it sends the requests that are possible,
// or waits for the running operations, or ends.
func (s *Server) stepDeployment(id string) {
	s.deployMu.Lock()
	defer s.deployMu.Unlock()
	var requests []resources.Request
	if err := s.inDeployment(id, func(c *provider.Call, op *store.Operation) error {
		if op.Error != nil {
			c.CompleteOperation(op) // the fault script has it fail
			return nil
		}
		p, err := resources.LoadProgress(c, op)
		if err != nil {
			c.CompleteOperation(op)
			return nil
		}
		if requests = p.NextRequests(); !p.ScheduleNext() {
			c.CompleteOperation(op)
		}
		return nil
	}); err != nil {
		return
	}
	for _, q := range requests {
		rep, answer := s.sendForDeployment(q)
		_ = s.inDeployment(id, func(c *provider.Call, op *store.Operation) error {
			p, err := resources.LoadProgress(c, op)
			if err != nil {
				return err
			}
			p.RecordAnswer(q, rep, answer)
			p.ScheduleNext()
			// Steps that this has made possible follow at once.
			op.Due = c.Now()
			c.PutOperation(op)
			return nil
		})
	}
}

// inDeployment runs f in a transaction on a deployment that is under way.
func (s *Server) inDeployment(id string, f func(c *provider.Call, op *store.Operation) error) error {
	return s.store.Update(func(tx *store.Tx) error {
		op := tx.Operation(id)
		if op == nil || !op.IsRunning() {
			return nil
		}
		parsed, err := store.ParseID(op.ResourceID)
		if err != nil {
			return err
		}
		return f(&provider.Call{Tx: tx, Env: s.env, Method: "PUT", ID: parsed, Type: s.env.TypeOf(op.Type), APIVersion: op.APIVersion,
			RequestID: op.RequestID,
			BaseURL:   "https://management.azure.com", Internal: true, Header: http.Header{},
			Principal: provider.Principal{ObjectID: op.Principal, TenantID: s.opts.Tenant}}, op)
	})
}

// reach are the faults that apply to requests of Resource Manager to a provider; the others are of a client's
// connection, or of lists.
var reach = []fault.Kind{fault.Status, fault.Throttle, fault.LateError, fault.EtagRace, fault.Edit, fault.Remove, fault.Evict, fault.Unseen}

// sendForDeployment makes a request for a deployment, as the one who deploys. It is one like any other, but for the limits of Resource Manager, the
// time that it takes and the request log: no client has sent it.
func (s *Server) sendForDeployment(q resources.Request) (*provider.Reply, error) {
	r, err := http.NewRequest(http.MethodPut,
		(&url.URL{Scheme: "https", Host: "management.azure.com", Path: q.Path,
			RawQuery: url.Values{"api-version": {q.APIVersion}}.Encode()}).String(), nil)
	if err != nil {
		return nil, err
	}
	x := &exchange{s: s, w: discard{}, r: r, segs: splitSegments(q.Path), record: RequestRecord{Method: r.Method, RequestID: s.newGUID()}}
	for _, seg := range x.segs {
		x.lower = append(x.lower, strings.ToLower(seg))
	}
	x.call = &provider.Call{Env: s.env, Method: r.Method, Query: r.URL.Query(), Header: r.Header, RequestID: x.record.RequestID,
		BaseURL: "https://" + r.URL.Host,
		Body:    q.Body, Principal: provider.Principal{ClientID: q.Client, ObjectID: q.Object, TenantID: s.opts.Tenant}}
	if err := x.checkAPIVersion(); err != nil {
		return nil, err
	}
	x.identifyResource()
	if err := x.checkAuthorization(); err != nil {
		return nil, err
	}
	if err := x.limitOfProvider(); err != nil {
		return nil, err
	}
	typ, id := "", x.call.ID.String()
	if x.call.Type != nil {
		typ = x.call.Type.Name
	}
	rule, hit := s.faults.TakeMatching(r.Method, typ, id, func(k fault.Kind) bool { return slices.Contains(reach, k) })
	if hit {
		if err := x.applyFaultBefore(rule, id); err != nil {
			return nil, err
		}
	}
	rep, err := x.performRequest(rule, hit)
	if err == nil && hit && rule.Kind == fault.LateError {
		return nil, provider.Errorf(504, "GatewayTimeout", "The gateway did not receive a response from '%s' within the specified time period.",
			x.call.ID.Namespace)
	}
	return rep, err
}
