// npm run fuzz:rpc -- [--seconds N] [--seed S]: sends wrong requests of every kind to every method of a devnet, over HTTP and WebSocket. Exit 1 when the
// devnet crashes, logs an error, omits a response, responds with an internal error or invalid JSON-RPC, or when its memory grows.
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { randomOf } from './evm/random.ts'
import { readFuzzOptions } from './fuzzOptions.ts'
import type { FromTarget } from './rpc/messages.ts'
import { createStepper, type Finding, fuzzedMethods } from './rpc/steps.ts'

const { seconds, seed } = readFuzzOptions('fuzz:rpc')

const clients = 6
const idsEach = 1_000_000_000
const restMs = 10_000
/**
 * Permitted growth of memory between the medians of the second and the last third of a run. The heap is measured after a collection and is exact.
 * The devnet keeps its L1 in memory and adds 20 KB a second, with and without requests.
 */
const growth = { heapMb: { fixed: 3, aSecond: 0.03, share: 0 }, rssMb: { fixed: 24, aSecond: 0.1, share: 0.15 } } as const
/** Number of samples for a judgement of memory; a shorter run has too few. */
const fewestSamples = 9

const child = fork(join(import.meta.dirname, 'rpc/target.ts'), { execArgv: ['--expose-gc'], stdio: ['ignore', 'inherit', 'pipe', 'ipc'] })
let crash = ''
child.stderr?.on('data', (chunk: Buffer) => (crash = (crash + chunk.toString()).slice(-4_000)))
const gone = new Promise<never>((_, reject) =>
  child.once('exit', (code, signal) => reject(new Error(`node exited (${code ?? signal}): ${crash}`))),
)
gone.catch(() => {})
process.once('exit', () => child.kill('SIGKILL'))

const logged: string[] = []
const memories: { readonly atMs: number; readonly heapMb: number; readonly rssMb: number }[] = []
const ready = Promise.withResolvers<Extract<FromTarget, { kind: 'ready' }>>()
let onMemory = (): void => {}
child.on('message', (message: FromTarget) => {
  if (message.kind === 'ready') ready.resolve(message)
  else if (message.kind === 'error') logged.push(message.text)
  else {
    memories.push({ ...message, atMs: performance.now() })
    onMemory()
  }
})

/** Samples the node's memory while no request is in flight. */
async function sampleMemory(): Promise<void> {
  const sampled = new Promise<void>((resolve) => {
    onMemory = resolve
  })
  child.send('memory')
  await Promise.race([sampled, gone])
}

const median = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[list.length >> 1] ?? 0

type Growth = { readonly of: keyof typeof growth; readonly from: number; readonly to: number; readonly most: number }

/** Growth of memory by kind; empty after a run with too few samples. */
function growths(): readonly Growth[] {
  if (memories.length < fewestSamples) return []
  const third = Math.floor(memories.length / 3)
  const [middle, end] = [memories.slice(third, 2 * third), memories.slice(-third)]
  const medianOf = (samples: typeof memories, of: 'atMs' | Growth['of']): number => median(samples.map((sample) => sample[of]))
  const seconds = (medianOf(end, 'atMs') - medianOf(middle, 'atMs')) / 1_000
  return (['heapMb', 'rssMb'] as const).map((of) => {
    const { fixed, aSecond, share } = growth[of]
    const from = medianOf(middle, of)
    return { of, from, to: medianOf(end, of), most: fixed + aSecond * seconds + share * from }
  })
}

const { urls, held } = await Promise.race([ready.promise, gone])
const steppers = Array.from({ length: clients }, (_, client) => createStepper(urls, held, randomOf(seed + client), 1 + client * idsEach))
const findings = new Map<string, Finding>()
let requests = 0
const endMs = performance.now() + seconds * 1_000

async function runUntil(stopMs: number): Promise<void> {
  await Promise.all(
    steppers.map(async ({ step }) => {
      while (performance.now() < stopMs) {
        const found = await step()
        requests++
        if (found && !findings.has(found.key)) {
          findings.set(found.key, found)
          process.stderr.write(`fuzz:rpc: ${found.why}\n→ ${found.request}\n← ${found.answer}\n`)
        }
      }
    }),
  )
}

try {
  while (performance.now() < endMs) {
    await Promise.race([runUntil(Math.min(endMs, performance.now() + restMs)), gone])
    await sampleMemory()
  }
} catch (error) {
  process.stderr.write(`fuzz:rpc: ${String(error)}\nlast requests:\n${steppers.flatMap(({ last }) => last).join('\n')}\n`)
  findings.set('end', { key: 'end', why: 'node exited', request: '', answer: '' })
}
const grown = growths()
const tooMuch = grown.filter(({ from, to, most }) => to - from > most)
/** One error for each first line and stack location. */
const distinct = new Map(logged.map((text) => [text.split('\n', 2).join('\n'), text]))
for (const text of distinct.values()) process.stderr.write(`fuzz:rpc: logged: ${text}\n`)
for (const { of, from, to, most } of tooMuch)
  process.stderr.write(
    `fuzz:rpc: memory growth: ${of} ${from.toFixed(1)} → ${to.toFixed(1)}, at most ${most.toFixed(1)} more are allowed\n`,
  )
const shownMb = grown.map(({ of, from, to }) => `${of} ${from.toFixed(1)} → ${to.toFixed(1)}`).join(', ')
const silent = fuzzedMethods.filter(({ name }) => !steppers.some(({ succeeded }) => succeeded.has(name))).map(({ name }) => name)
if (silent.length > 0) process.stdout.write(`fuzz:rpc: no result, only errors: ${silent.join(', ')}\n`)
process.stdout.write(
  `fuzz:rpc: ${requests} requests to ${fuzzedMethods.length} methods, seed ${seed}: ${findings.size} findings, ${logged.length} errors logged, ${shownMb || 'memory not judged: run for at least 90 s'}\n`,
)
for (const { close } of steppers) close()
process.exit(findings.size + logged.length + tooMuch.length > 0 ? 1 : 0)
