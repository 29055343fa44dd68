// node bench/rpc/pacedClient.ts URL FILE RATE SECONDS WARM: sends RATE requests a second regardless of responses, each drawn at random from a file of
// {"class", "body"}, one a line. Prints by class the times from the due time of a request to its response; the first WARM seconds, in addition to
// SECONDS, do not count.
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'

const [url = '', file = '', ...numbers] = process.argv.slice(2)
const [rate = 1, seconds = 1, warmSec = 0] = numbers.map(Number)
const entries = readFileSync(file, 'utf8')
  .split('\n')
  .map((line) => JSON.parse(line) as { class: string; body: string })
const classes = [...new Set(entries.map((entry) => entry.class))]
const byClass = new Map(classes.map((name) => [name, entries.filter((entry) => entry.class === name)]))
const agent = new Agent({ keepAlive: true, maxSockets: 64 })
const times = new Map<string, number[]>(classes.map((name) => [name, []]))
const startMs = performance.now()
const countedFromMs = startMs + warmSec * 1_000
let asked = 0
let counted = 0
let failed = 0
let sample = ''

function ask({ class: kind, body }: { class: string; body: string }, dueMs: number): void {
  const isCounted = dueMs >= countedFromMs
  if (isCounted) counted++
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const sent = request(url, { method: 'POST', agent, headers }, (response) => {
    let start = ''
    response.on('data', (chunk: Buffer) => {
      if (start.length < 120) start += chunk.toString('latin1', 0, 120)
    })
    response.on('end', () => {
      if (response.statusCode !== 200 || start.includes('"error"')) {
        failed++
        sample = start
      } else if (isCounted) times.get(kind)?.push(performance.now() - dueMs)
    })
  })
  sent.on('error', () => failed++)
  sent.end(body)
}

/** cumulative share of each class in percent, in the order of their first lines */
const bounds = [60, 85, 95, 100]
function draw(): { class: string; body: string } {
  const at = Math.random() * 100
  const kind = classes.find((_, index) => at < (bounds[index] ?? 100)) ?? classes[0] ?? ''
  const list = byClass.get(kind) ?? []
  return list[Math.floor(Math.random() * list.length)] ?? { class: kind, body: '' }
}

const wanted = rate * (seconds + warmSec)
const timer = setInterval(() => {
  const due = Math.min(1 + Math.floor(((performance.now() - startMs) * rate) / 1_000), wanted)
  for (; asked < due; asked++) ask(draw(), startMs + (asked * 1_000) / rate)
  if (asked < wanted) return
  clearInterval(timer)
  setTimeout(tell, 3_000)
}, 2)

function tell(): void {
  const told = classes.map((kind) => {
    const sorted = (times.get(kind) ?? []).sort((a, b) => a - b)
    const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0
    return { class: kind, count: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) }
  })
  const lost = counted - told.reduce((sum, { count }) => sum + count, 0)
  process.stdout.write(`${JSON.stringify({ told, failed, lost, sample })}\n`, () => process.exit(0))
}
