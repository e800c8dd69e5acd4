// Written by `writ init`; `writ uninstall` removes it. Changes are lost.
//
// OpenCode has no hooks that are commands: it calls the functions below. Each
// hands the call to Writ as JSON and does what Writ answers. A tool whose call
// Writ cannot judge does not run.
import { spawn } from "node:child_process"
import { homedir } from "node:os"

const program = "PROGRAM".replace(/^\$HOME(?=\/)/, () => homedir())
const patience = 10000 // milliseconds; Writ answers within two seconds

export const Writ = async ({ client, directory }) => {
  const parents = new Map() // session -> its parent, "" for none
  const told = new Map() // session -> what the model is to know

  const ask = (event, fields) =>
    new Promise((resolve, reject) => {
      const child = spawn(program, ["hook", "opencode", event], { cwd: directory, stdio: ["pipe", "pipe", "pipe"], windowsHide: true })
      let out = ""
      let problems = ""
      const timer = setTimeout(() => {
        child.kill()
        reject(new Error("it did not answer in time"))
      }, patience)
      child.on("error", (problem) => {
        clearTimeout(timer)
        reject(problem)
      })
      child.on("close", (code) => {
        clearTimeout(timer)
        if (code !== 0 && code !== 2) return reject(new Error("it ended with code " + code + ": " + problems))
        if (out.trim() === "") return code === 0 ? resolve({ verdict: "pass" }) : reject(new Error(problems))
        try {
          const answer = JSON.parse(out)
          resolve(code === 2 ? { ...answer, verdict: "deny" } : answer)
        } catch (problem) {
          reject(problem)
        }
      })
      child.stdout.on("data", (text) => (out += text))
      child.stderr.on("data", (text) => (problems += text))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify({ hook_event_name: event, cwd: directory, ...fields }))
    })

  // What is only recorded or told must not stop the agent.
  const tell = async (event, fields) => {
    try {
      return await ask(event, fields)
    } catch (problem) {
      return { verdict: "pass", notice: "Writ did not see " + event + ": " + problem.message }
    }
  }

  // A sub-agent's session belongs to the one it was started from. known is
  // false where that cannot be found out.
  const whose = async (session) => {
    let at = session
    for (let depth = 0; depth < 16; depth++) {
      if (!parents.has(at)) {
        try {
          const found = await client.session.get({ path: { id: at } })
          if (!found.data) throw new Error("no such session")
          parents.set(at, found.data.parentID || "")
        } catch {
          return { known: false, fields: at === session ? { session_id: session } : { session_id: at, agent_id: session } }
        }
      }
      const parent = parents.get(at)
      if (!parent) break
      at = parent
    }
    return { known: true, fields: at === session ? { session_id: session } : { session_id: at, agent_id: session } }
  }

  const remember = (session, part, text) => {
    if (text) told.set(session, { ...told.get(session), [part]: text })
  }

  return {
    event: async ({ event }) => {
      const info = event.properties?.info
      switch (event.type) {
        case "session.created": {
          parents.set(info.id, info.parentID || "")
          const { fields } = await whose(info.id)
          const answer = await tell(info.parentID ? "subagent.created" : "session.created", fields)
          remember(info.id, "start", answer.context)
          break
        }
        case "session.deleted": {
          if (!info.parentID) await tell("session.deleted", { session_id: info.id, reason: "deleted" })
          told.delete(info.id)
          break
        }
        case "session.idle":
        case "session.compacted": {
          const { fields } = await whose(event.properties.sessionID)
          const name = fields.agent_id && event.type === "session.idle" ? "subagent.idle" : event.type
          await tell(name, fields)
          break
        }
      }
    },

    "chat.message": async (input, output) => {
      const { known, fields } = await whose(input.sessionID)
      const typed = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const answer = await tell("chat.message", {
        ...fields,
        prompt: typed.map((part) => part.text).join("\n"),
        prompt_id: input.messageID || output.message?.id,
        // A prompt of unknown descent may be an agent's: it approves nothing.
        source: known && typed.length > 0 ? "" : "system",
      })
      remember(input.sessionID, "prompt", answer.context)
    },

    "experimental.chat.system.transform": async (input, output) => {
      const texts = told.get(input.sessionID)
      if (texts?.start) output.system.push(texts.start)
      if (texts?.prompt) output.system.push(texts.prompt)
    },

    "tool.execute.before": async (input, output) => {
      const { fields } = await whose(input.sessionID)
      let answer
      try {
        answer = await ask("tool.execute.before", { ...fields, tool_name: input.tool, tool_use_id: input.callID, tool_input: output.args })
      } catch (problem) {
        throw new Error("Writ refused " + input.tool + ", since it could not judge it: " + problem.message + ". Ask the user to run `writ doctor` in a terminal.")
      }
      if (answer.verdict !== "pass") throw new Error(answer.reason || "Writ refused it.")
      if (answer.command && input.tool === "bash") output.args.command = answer.command
    },

    "tool.execute.after": async (input, output) => {
      const { fields } = await whose(input.sessionID)
      const ended = input.tool === "bash" ? { exit: output.metadata?.exit, output: String(output.output ?? "").slice(-3000) } : undefined
      const answer = await tell("tool.execute.after", { ...fields, tool_name: input.tool, tool_use_id: input.callID, tool_input: input.args, tool_response: ended })
      const text = [answer.verdict === "deny" ? answer.reason : "", answer.context].filter(Boolean).join("\n\n")
      if (text && typeof output.output === "string") output.output += "\n\n" + text
    },

    // A command of the agent's shell finds its session.
    "shell.env": async (input, output) => {
      if (!input?.sessionID || !output?.env) return
      const { fields } = await whose(input.sessionID)
      output.env.WRIT_SESSION = fields.session_id
    },

    "experimental.session.compacting": async (input) => {
      const { fields } = await whose(input.sessionID)
      await tell("session.compacting", fields)
    },
  }
}
