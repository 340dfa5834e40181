package server

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/page"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/compute"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// serveControl answers the control API under /_sim/. It is for the operator of the simulator, and no part of Azure.
func (s *Server) serveControl(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path+"/", page.Root+"/") {
		s.servePage(w, r)
		return
	}
	if t := s.opts.ControlToken; t != "" && subtle.ConstantTimeCompare([]byte(r.Header.Get("X-Sim-Token")), []byte(t)) != 1 {
		writeRefusal(w, 401, "the header X-Sim-Token is missing or wrong")
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /_sim/guests":
		s.controlGuests(w, r)
	case "PUT /_sim/guests/listeners", "DELETE /_sim/guests/listeners":
		s.controlListener(w, r)
	case "PUT /_sim/guests/status":
		s.controlStatus(w, r)
	case "PUT /_sim/health":
		s.controlHealth(w, r)
	case "GET /_sim/clusters":
		s.controlClusters(w, r)
	case "PUT /_sim/clusters/listeners", "DELETE /_sim/clusters/listeners":
		s.controlClusterListener(w, r)
	case "POST /_sim/clusters/demand":
		s.controlDemand(w, r)
	case "POST /_sim/clusters/autoupgrade":
		s.controlAutoUpgrade(w, r)
	case "PUT /_sim/applications":
		s.controlApplication(w, r)
	case "PUT /_sim/issuers":
		s.controlIssuer(w, r)
	case "GET /_sim/dial":
		s.controlDial(w, r)
	case "GET /_sim/state":
		writeJSON(w, 200, body.Object{"resources": s.State()})
	case "GET /_sim/snapshot", "PUT /_sim/snapshot":
		s.controlSnapshot(w, r)
	case "GET /_sim/operations":
		s.controlOperations(w)
	case "GET /_sim/faults":
		writeJSON(w, 200, map[string]any{"faults": s.Faults()})
	case "POST /_sim/faults":
		s.controlFaults(w, r)
	case "DELETE /_sim/faults":
		s.ClearFaults()
		w.WriteHeader(204)
	case "POST /_sim/advance":
		d, err := time.ParseDuration(r.URL.Query().Get("by"))
		if err != nil {
			writeRefusal(w, 400, "the query parameter by must be a duration such as 30s")
			return
		}
		if _, virtual := s.opts.Clock.(*store.Virtual); !virtual || d < 0 {
			writeRefusal(w, 409, "only a virtual clock can be advanced, and only forward; this simulator's may be the clock of the machine")
			return
		}
		s.Advance(d)
		w.WriteHeader(204)
	default:
		if number, ok := strings.CutPrefix(r.URL.Path, "/_sim/faults/"); ok && r.Method == http.MethodDelete {
			s.controlRemovedFault(w, number)
			return
		}
		writeRefusal(w, 404, fmt.Sprintf("%s %s is not part of the control API", r.Method, r.URL.Path))
	}
}

func writeRefusal(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, body.Object{"message": message})
}

// decodeControl reads a JSON body; it has answered when it returns false.
func decodeControl(w http.ResponseWriter, r *http.Request, into any) bool {
	raw, err := receiveBody(r)
	if err != nil {
		writeRefusal(w, http.StatusRequestEntityTooLarge, err.Error())
		return false
	}
	if err := body.DecodeOne(json.NewDecoder(bytes.NewReader(raw)), into); err != nil {
		writeRefusal(w, 400, "the body is not the JSON expected: "+err.Error())
		return false
	}
	return true
}

func (s *Server) controlGuests(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	after, _ := strconv.ParseInt(q.Get("after"), 10, 64)
	secs, _ := strconv.Atoi(q.Get("wait"))
	if secs > 0 {
		s.attachLab()
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(min(secs, 300))*time.Second)
	defer cancel()
	for {
		changed := s.store.Changed()
		rev, guests := s.guests.currentGuests()
		if rev > after || secs <= 0 {
			writeJSON(w, 200, map[string]any{"revision": rev, "guests": guests})
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			writeJSON(w, 200, map[string]any{"revision": rev, "guests": guests})
			return
		case <-s.stop:
			writeRefusal(w, 503, "the simulator is stopping")
			return
		}
	}
}

// attachLab records that guests are real from now on. Bootstrapping extensions then wait for the guests' reports.
func (s *Server) attachLab() {
	_ = s.store.Update(func(tx *store.Tx) error {
		var on bool
		if !tx.ReadNote(compute.LabKey, &on) {
			tx.SetMeta(compute.LabKey, true)
		}
		return nil
	})
}

func (s *Server) controlListener(w http.ResponseWriter, r *http.Request) {
	var in struct {
		VMID    string `json:"vmID"`
		Port    int    `json:"port"`
		Address string `json:"address"`
	}
	if !decodeControl(w, r, &in) {
		return
	}
	if r.Method == "PUT" && (in.Port < 1 || in.Port > 65535 || in.Address == "") {
		writeRefusal(w, 400, "port must be between 1 and 65535 and address host:port")
		return
	}
	vm := s.guests.findVM(in.VMID)
	if vm == nil {
		if r.Method == "DELETE" {
			w.WriteHeader(204) // gone with its VM
			return
		}
		writeRefusal(w, 404, fmt.Sprintf("no VM has the ID %q", in.VMID))
		return
	}
	err := s.store.Update(func(tx *store.Tx) error {
		if r.Method == "DELETE" {
			tx.SetMeta(listenerKey(vm, in.Port), nil)
		} else {
			tx.SetMeta(listenerKey(vm, in.Port), in.Address)
		}
		return nil
	})
	if err != nil {
		writeRefusal(w, 500, err.Error())
		return
	}
	w.WriteHeader(204)
}

func listenerKey(vm *store.Resource, port int) string {
	return "listener/" + body.String(vm.Body, "properties.vmId") + "/" + strconv.Itoa(port)
}

func (s *Server) controlStatus(w http.ResponseWriter, r *http.Request) {
	var in struct {
		VMID string `json:"vmID"`
		// Console is text for the serial console.
		Console string `json:"console"`
		compute.GuestStatus
	}
	if !decodeControl(w, r, &in) {
		return
	}
	if in.Phase != "Booting" && in.Phase != "Running" && in.Phase != "Failed" {
		writeRefusal(w, 400, fmt.Sprintf("phase must be Booting, Running or Failed, not %q", in.Phase))
		return
	}
	vm := s.guests.findVM(in.VMID)
	if vm == nil {
		writeRefusal(w, 404, fmt.Sprintf("no VM has the ID %q", in.VMID))
		return
	}
	err := s.store.Update(func(tx *store.Tx) error {
		tx.SetMeta(compute.GuestKey(body.String(vm.Body, "properties.vmId")), in.GuestStatus)
		appendConsole(tx, body.String(vm.Body, "properties.vmId"), in.Console)
		return nil
	})
	if err != nil {
		writeRefusal(w, 500, err.Error())
		return
	}
	w.WriteHeader(204)
}

func (s *Server) controlDial(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	port, err := strconv.Atoi(q.Get("port"))
	if err != nil || q.Get("host") == "" {
		writeRefusal(w, 400, "the query parameters host and port are required")
		return
	}
	route := s.traceDial(q.Get("host"), port)
	if route.Step != "" {
		writeJSON(w, 502, route)
		return
	}
	writeJSON(w, 200, route)
}

func (s *Server) controlOperations(w http.ResponseWriter) {
	type view struct {
		ID         string         `json:"id"`
		ResourceID string         `json:"resourceID"`
		Type       string         `json:"type"`
		Verb       string         `json:"verb"`
		Started    time.Time      `json:"started"`
		Ended      time.Time      `json:"ended,omitzero"`
		Status     string         `json:"status"`
		Error      map[string]any `json:"error,omitempty"`
	}
	out := []view{}
	for _, op := range s.Operations() {
		v := view{ID: op.ID, ResourceID: op.ResourceID, Type: op.Type, Verb: op.Verb, Started: op.Started, Ended: op.Ended, Status: op.Status}
		if !op.IsRunning() {
			v.Error = op.Error
		}
		out = append(out, v)
	}
	writeJSON(w, 200, map[string]any{"operations": out})
}

// controlRemovedFault removes one rule.
func (s *Server) controlRemovedFault(w http.ResponseWriter, number string) {
	if n, err := strconv.Atoi(number); err != nil || !s.RemoveFault(n) {
		writeRefusal(w, 404, fmt.Sprintf("there is no rule %q; GET /_sim/faults lists the rules with their numbers", number))
		return
	}
	w.WriteHeader(204)
}

func (s *Server) controlFaults(w http.ResponseWriter, r *http.Request) {
	var raw json.RawMessage
	if !decodeControl(w, r, &raw) {
		return
	}
	rules, err := fault.Parse(raw)
	if err == nil {
		err = s.addFaults(rules)
	}
	if err != nil {
		writeRefusal(w, 400, err.Error())
		return
	}
	w.WriteHeader(204)
}
