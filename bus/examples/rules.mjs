// Prints the rules that matter for a text: node rules.mjs "retry a payment request".
// npm install nats
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { connect, JSONCodec } from "nats"

const at = JSON.parse(execFileSync("writ", ["status", "--json"]))
const who = JSON.parse(readFileSync(join(at.data_dir, "credentials", "hook.json")))
const { tls } = JSON.parse(readFileSync(join(at.data_dir, "run", "endpoint.json"))) // the certificate that the daemon shows
const bus = await connect({ servers: at.url, tls, user: who.user, pass: who.password, inboxPrefix: "_INBOX." + who.user })
const json = JSONCodec()

const query = process.argv.slice(2).join(" ") || "retry a payment request"
const answer = await bus.request("writ.svc.retrieve", json.encode({ query, limit: 5 }), { timeout: 10000 })
const code = answer.headers?.get("Nats-Service-Error-Code")
if (code) {
  console.error(code + ": " + answer.headers.get("Nats-Service-Error"))
  process.exit(1)
}
const found = json.decode(answer.data)
for (const rule of found.rules) console.log(rule.id + "  " + rule.title)
console.log(found.rules.length + " rules, " + found.tokens + " tokens")
await bus.close()
