package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/writd/config"
	"github.com/writbus/writ/schemas"
)

// serviceName is how the daemon's services are found by NATS discovery.
const serviceName = "writ"

// fault is an error that a client is told, with a stable code.
type fault struct {
	code string
	text string
}

func (f fault) Error() string { return f.text }

// Code is the stable part, schemas.Code….
func (f fault) Code() string { return f.code }

func faultf(code, format string, args ...any) error {
	return fault{code, fmt.Sprintf(format, args...)}
}

// answer makes an endpoint of a function from request to reply.
func answer[Request, Reply any](name, subject string, handle func(context.Context, Request) (Reply, error)) bus.Endpoint {
	return bus.Endpoint{Name: name, Subject: subject, Release: release, Handle: func(ctx context.Context, r bus.Request) ([]byte, error) {
		var request Request
		if len(r.Body) > 0 {
			if err := json.Unmarshal(r.Body, &request); err != nil {
				return nil, faultf(schemas.CodeBadRequest, "the request is not the JSON that %s takes: %v", subject, err)
			}
		}
		reply, err := handle(ctx, request)
		if err != nil {
			return nil, coded(err)
		}
		return encoded(reply)
	}}
}

// coded gives an error of the layers below the code a client can act on.
func coded(err error) error {
	var f fault
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, bus.ErrConflict):
		return fault{schemas.CodeConflict, err.Error()}
	case errors.Is(err, schemas.ErrInvalid), errors.Is(err, schemas.ErrUnknownType), errors.Is(err, schemas.ErrIDTooLong):
		return fault{schemas.CodeBadRequest, err.Error()}
	}
	return fault{schemas.CodeInternal, err.Error()}
}

type none struct{}

// serve announces the services.
func (d *Daemon) serve(ctx context.Context) (stop func(), err error) {
	stopMemory, err := d.beginMemory(ctx)
	if err != nil {
		return nil, err
	}
	stopArtifacts := d.beginArtifacts(ctx)
	stopAgents, err := d.beginAgents(ctx)
	if err != nil {
		stopArtifacts()
		stopMemory()
		return nil, err
	}
	running, stopReading := context.WithCancel(context.WithoutCancel(ctx)) // a stop lets them end
	d.transcripts.running = running
	asking, stopAsking := context.WithCancel(running)
	d.transcripts.asking = asking
	shut, err := d.services.Serve(ctx, bus.Service{
		Name: serviceName, Version: config.Version, Description: "rules, gates and the log of coding agents",
		Endpoints: d.afterRules(append(d.agentEndpoints(), []bus.Endpoint{
			{Name: "hook", Subject: schemas.SvcHook, Handle: d.hook},
			answer("retrieve", schemas.SvcRetrieve, d.retrieve),
			answer("always_on", schemas.SvcAlwaysOn, d.alwaysOn),
			answer("session_list", schemas.SvcSessions, d.sessionList),
			answer("session_show", schemas.SvcSession, d.sessionShow),
			answer("session_mode", schemas.SvcMode, d.modeByAgent),
			answer("session_advance", schemas.SvcAdvance, d.advance),
			answer("mode", schemas.SvcModeByUser, d.modeByUser),
			answer("phase", schemas.SvcPhase, d.phase),
			answer("approve", schemas.SvcApprove, d.approve),
			answer("approve_offer", schemas.SvcOffer, d.offer),
			answer("approve_decline", schemas.SvcDecline, d.decline),
			answer("rule_list", schemas.SvcRules, d.ruleList),
			answer("rule_search", schemas.SvcRuleSearch, d.ruleSearch),
			answer("rule_show", schemas.SvcRule, d.ruleShow),
			answer("rule_import", schemas.SvcRuleImport, d.ruleImport),
			answer("rule_change", schemas.SvcRuleChange, d.ruleChange),
			answer("rule_propose", schemas.SvcRulePropose, d.rulePropose),
			answer("rule_feedback", schemas.SvcRuleFeedback, d.ruleFeedback),
			answer("rule_verdict", schemas.SvcRuleVerdict, d.ruleVerdict),
			answer("rule_log", schemas.SvcRuleLog, d.ruleLog),
			answer("rule_export", schemas.SvcRuleExport, d.ruleExport),
			answer("rule_review", schemas.SvcRuleReview, d.ruleReview),
			answer("rule_stats", schemas.SvcRuleStats, d.ruleStats),
			answer("rule_validate", schemas.SvcRuleValidate, d.ruleValidate),
			answer("rule_compress", schemas.SvcRuleCompress, d.ruleCompress),
			answer("activity", schemas.SvcActivity, d.activity),
			answer("check", schemas.SvcCheck, d.check),
			answer("graph", schemas.SvcGraph, d.graphShow),
			answer("graph_push", schemas.SvcGraphPush, d.graphPush),
			answer("graph_pull", schemas.SvcGraphPull, d.graphPull),
			answer("observe", schemas.SvcObserve, d.observeTraced),
			answer("recall", schemas.SvcRecall, d.recallTraced),
			answer("memory_health", schemas.SvcMemoryHealth, d.memoryHealth),
			answer("memory_review", schemas.SvcMemoryReview, d.memoryReview),
			answer("memory_regate", schemas.SvcMemoryRegate, d.memoryRegate),
			answer("memory_forget", schemas.SvcMemoryForget, d.memoryForget),
			answer("memory_export", schemas.SvcMemoryExport, d.memoryExport),
			answer("memory_import", schemas.SvcMemoryImport, d.memoryImport),
			answer("dash", schemas.SvcDash, d.dash),
			answer("artifact", schemas.SvcArtifact, d.artifactSearch),
			answer("artifact_context", schemas.SvcArtifactContext, d.artifactContext),
			answer("artifact_build", schemas.SvcArtifactBuild, d.artifactBuild),
			answer("artifact_status", schemas.SvcArtifactStatus, d.artifactStatus),
			answer("artifact_deps", schemas.SvcArtifactDeps, d.artifactDeps),
			answer("artifact_explain", schemas.SvcArtifactExplain, d.artifactExplain),
			answer("memory_reflect", schemas.SvcMemoryReflect, d.memoryReflect),
			answer("memory_proposals", schemas.SvcMemoryProposals, d.memoryProposals),
			answer("memory_triage", schemas.SvcMemoryTriage, d.memoryTriage),
			answer("emit", schemas.SvcEmit, d.emit),
			answer("replay", schemas.SvcReplay, d.replay),
			answer("audit_seal", schemas.SvcAuditSeal, d.auditSeal),
			answer("audit_prove", schemas.SvcAuditProve, d.auditProve),
			answer("status", schemas.SvcStatus, d.status),
			answer("stop", schemas.SvcStop, func(context.Context, none) (none, error) {
				d.stop()
				return none{}, nil
			}),
		}...)),
	})
	if err != nil {
		stopAsking()
		stopReading()
		stopArtifacts()
		stopAgents()
		stopMemory()
		return nil, err
	}
	return func() {
		defer stopMemory()
		defer stopArtifacts()
		defer stopReading()
		defer d.transcripts.wait.Wait()
		defer stopAsking()
		stopAgents() // what follows their runs is answered, and then stops
		ctx, cancel := context.WithTimeout(context.Background(), stopBudget)
		defer cancel()
		if err := shut(ctx); err != nil {
			d.logger.Error("stop the services", "error", err)
		}
	}, nil
}
