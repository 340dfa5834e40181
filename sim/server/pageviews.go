package server

import (
	"bytes"
	"encoding/json"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/page"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/schedule"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// pageGroups returns all resource groups, and the resources of the one named in.
func (s *Server) pageGroups(in string) *page.Groups {
	out := &page.Groups{All: s.summarizeGroups()}
	for _, group := range out.All {
		if !strings.EqualFold(group.ID, in) {
			continue
		}
		out.In = group.ID
		s.store.View(func(tx *store.Tx) {
			for _, r := range tx.List("", group.ID) {
				out.Resources = append(out.Resources,
					page.Resource{ID: r.ID, Type: r.Type, Name: r.Name(), Location: r.Location, State: body.String(r.Body, "properties.provisioningState"),
						Owner: ownerOf(r)})
			}
		})
	}
	return out
}

func (s *Server) summarizeGroups() []page.Group {
	var out []page.Group
	s.store.View(func(tx *store.Tx) {
		for _, r := range tx.List("Microsoft.Resources/resourceGroups", "") {
			out = append(out, page.Group{ID: r.ID, Name: r.Name(), Location: r.Location, State: body.String(r.Body, "properties.provisioningState"),
				Owner:     ownerOf(r),
				Resources: len(tx.List("", r.ID))})
		}
	})
	return out
}

// ownerOf returns the owner of a resource: the resource that manages it, or the cluster that its tags name, in any of
// the tag formats.
func ownerOf(r *store.Resource) string {
	if by := body.String(r.Body, "managedBy"); by != "" {
		return by[strings.LastIndexByte(by, '/')+1:]
	}
	tags, _ := body.Get(r.Body, "tags").(body.Object)
	var owners []string
	for key, value := range body.Sorted(tags) {
		for _, before := range []string{"sigs.k8s.io_cluster-api-provider-azure_cluster_", "kubernetes.io_cluster_", "kubernetes.io-cluster-"} {
			if name, ok := strings.CutPrefix(key, before); ok && value == "owned" && !slices.Contains(owners, name) {
				owners = append(owners, name)
			}
		}
	}
	slices.Sort(owners)
	return strings.Join(owners, ", ")
}

// pageResource returns a resource as GET shows it, nil when there is none.
func (s *Server) pageResource(id string) *page.Body {
	var out *page.Body
	s.store.View(func(tx *store.Tx) {
		c := &provider.Call{Tx: tx, Env: s.env, BaseURL: "https://management.azure.com"}
		r := tx.Get(id)
		if r == nil {
			return
		}
		if c.Type = s.env.TypeOf(r.Type); c.Type == nil {
			return
		}
		c.ID, _ = store.ParseID(r.ID)
		if raw, err := json.MarshalIndent(c.RenderResource(r), "", "  "); err == nil {
			out = &page.Body{ID: r.ID, JSON: string(raw)}
		}
	})
	return out
}

func (s *Server) pageRequests() *page.Requests {
	all := s.log.allRecords()
	out := &page.Requests{All: len(all)}
	for _, r := range slices.Backward(all[max(0, len(all)-shownRequests):]) {
		client, _, _ := strings.Cut(r.UserAgent, " ")
		out.Latest = append(out.Latest,
			page.Request{Time: r.Time, Method: r.Method, URL: r.URL, Status: r.Status, DurationMs: r.DurationMs, Client: client})
	}
	return out
}

// pageTimeline draws the last writes in a group, the first group unless one is named.
func (s *Server) pageTimeline(in string) *page.Timeline {
	out := &page.Timeline{Groups: s.summarizeGroups(), In: in}
	if out.In == "" && len(out.Groups) > 0 {
		out.In = out.Groups[0].ID
	}
	scope := strings.ToLower(out.In)
	var requests []schedule.Request
	for _, r := range s.log.allRecords() {
		request := schedule.Request{Time: r.Time, Method: r.Method, URL: r.URL, Status: r.Status, DurationMs: r.DurationMs,
			OperationID: r.OperationID}
		if id := request.ID(); scope != "" && (id == scope || strings.HasPrefix(id, scope+"/")) && request.IsAcceptedWrite() {
			requests = append(requests, request)
		}
	}
	out.All = len(requests)
	requests = requests[max(0, len(requests)-drawnWrites):]
	var operations []schedule.Operation
	for _, o := range s.Operations() {
		operations = append(operations,
			schedule.Operation{ID: o.ID, ResourceID: o.ResourceID, Verb: o.Verb, Started: o.Started, Ended: o.Ended, Status: o.Status})
	}
	bodies := []any{}
	s.store.View(func(tx *store.Tx) {
		for _, r := range tx.List("", out.In) {
			bodies = append(bodies, map[string]any{"id": r.ID, "body": r.Body})
		}
	})
	writes := schedule.BuildSchedule(requests, operations, schedule.FindReferences(bodies))
	if len(writes) == 0 {
		return out
	}
	path, took := schedule.CriticalPath(writes)
	var svg bytes.Buffer
	if err := schedule.DrawSVG(&svg, writes, path, writes[0].Start, s.opts.Clock.Now(), nil); err != nil {
		return out
	}
	out.Writes, out.Critical = len(writes), took.Round(100*time.Millisecond)
	out.Drawing = template.HTML(svg.String()) // the package that draws it escapes
	return out
}

func (s *Server) pageFaults() *page.Faults {
	out := &page.Faults{}
	for _, kind := range fault.Kinds {
		out.Kinds = append(out.Kinds, string(kind))
	}
	s.store.View(func(tx *store.Tx) {
		for _, r := range tx.List("", "") {
			if !slices.Contains(out.Types, r.Type) {
				out.Types = append(out.Types, r.Type)
			}
		}
	})
	slices.Sort(out.Types)
	for _, u := range s.faults.ListUses() {
		rule := page.Rule{Kind: string(u.Kind), Method: u.Method, Type: u.Type, ID: u.ID, Seen: u.Seen, Done: u.Done, Spent: u.Spent,
			Says: strings.TrimSpace(u.Code + " " + u.Message)}
		if u.Status > 0 {
			rule.Says = strings.TrimSpace(strconv.Itoa(u.Status) + " " + rule.Says)
		}
		out.Rules = append(out.Rules, rule)
	}
	return out
}
