// A node under a load of traces, calls, witnesses and blocks, with little memory.
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import { createEngineHttp } from '#engine/engineHttp'
import type { Engine } from '#engine/port'
import { senderThreadCount } from '#executionThread/senderThreads'
import { systemClock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import { silentLog } from '#lib/log'
import { type CliProcess, startCli } from '#test/harness/process/cliProcess'
import type { Payload } from '#types/payload'
import { createDenimChain, DenimBlocks, type DenimChain } from '../../bench/denim/chain.ts'
import { Mix } from '../../bench/denim/mix.ts'
import { senders } from '../../bench/denim/senders.ts'
import { processTree } from '../../bench/processTree.ts'

/** A node at rest has some 270 MB with one sender thread: the load exceeds 80 % of the bound, and the node is far below 72 % when it has recovered. */
const maxBytes = 500_000_000 + 15_000_000 * (senderThreadCount() - 1)
const [blocks, blocksBefore, transactionsPerBlock] = [40, 24, 130]
const [rounds, requestsPerTurn, atOnce] = [3, 60, 10]
/** The first two blocks have no transactions to trace. */
const firstFull = 3

const folder = mkdtempSync(join(tmpdir(), 'basalt-memory-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let chain: DenimChain
const payloads: Payload[] = []

beforeAll(async () => {
  chain = createDenimChain(folder, senders)
  await using open = await chain.open(join(folder, 'builder'))
  const made = await DenimBlocks.on(chain.config, open)
  const mix = new Mix()
  payloads.push(await made.add(), await made.add(mix.deployments()))
  while (payloads.length < blocks) payloads.push(await made.add(Array.from({ length: transactionsPerBlock }, () => mix.next())))
}, 300_000)

type Answer = { readonly text: string; readonly code: number | undefined; readonly limit: string | undefined }

/** A node with the urls of its servers, and the anonymous memory of its process in bytes. */
type BoundedNode = AsyncDisposable & {
  readonly engine: Engine
  ask(method: string, params: readonly unknown[]): Promise<Answer>
  metric(name: string): Promise<number>
  anonymousBytes(): number
}

async function startNode(): Promise<BoundedNode> {
  const jwtFile = join(folder, 'jwt.hex')
  const files = ['--rollup.config', chain.rollupFile, '--genesis', chain.genesisFile, '--datadir', join(folder, 'node'), '--jwt', jwtFile]
  const ports = ['--http.port', '0', '--ws.port', 'off', '--engine.port', '0', '--metrics.port', '0', '--rpc.workers', '1']
  const memory = ['--memory-max', String(maxBytes), '--http.api', 'eth,debug', '--log.format', 'json']
  const cli: CliProcess = startCli(['node', '--mode', 'execution', ...files, ...ports, ...memory])
  const [line] = await cli.until(/^.*"node started".*$/m)
  const { rpc, engine: engineUrl, metrics } = JSON.parse(line) as Record<'rpc' | 'engine' | 'metrics', string>
  // the node is the child of the process that watches it
  const pid = processTree(cli.child.pid ?? 0).find((one) => one !== cli.child.pid)
  const secret = fromHex(`0x${readFileSync(jwtFile, 'latin1').trim().replace(/^0x/, '')}`)
  const deps = { fetch, clock: systemClock, log: silentLog }
  return {
    engine: createEngineHttp(deps, { url: engineUrl, jwtSecret: () => secret, config: chain.config, timeoutMs: 120_000 }),
    async ask(method, params): Promise<Answer> {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const response = await fetch(rpc, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      const text = await response.text()
      if (!text.startsWith('{"jsonrpc":"2.0","id":1,"error"')) return { text, code: undefined, limit: undefined }
      const { error } = JSON.parse(text) as { error: { code: number; data?: { limit?: string } } }
      return { text, code: error.code, limit: error.data?.limit }
    },
    async metric(name): Promise<number> {
      const text = await (await fetch(`${metrics}/metrics`)).text()
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    },
    anonymousBytes: () => 1_024 * Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]),
    [Symbol.asyncDispose]: () => cli[Symbol.asyncDispose](),
  }
}

/** Sends blocks as a consensus half does. */
async function insert({ engine }: BoundedNode, from: number, to: number): Promise<void> {
  for (const payload of payloads.slice(from, to)) {
    expect(await engine.insert(payload)).toEqual({ kind: 'valid' })
    await engine.setHeads({ ...(await engine.heads()), unsafe: l2RefOf(chain.config, payload) })
  }
}

type Request = readonly [method: string, params: readonly unknown[]]

/** Kinds of requests of each turn, for the block of a number. */
const turns: Readonly<Record<string, readonly ((number: string) => Request)[]>> = {
  traces: [
    (number) => ['debug_traceBlockByNumber', [number, {}]],
    (number) => ['debug_traceBlockByNumber', [number, { enableMemory: true }]],
    (number) => ['debug_traceBlockByNumber', [number, { tracer: 'prestateTracer' }]],
    (number) => ['debug_traceBlockByNumber', [number, { tracer: 'callTracer' }]],
  ],
  calls: [
    (number) => ['eth_call', [{ to: senders[1], data: '0x' }, number]],
    (number) => ['eth_getBlockByNumber', [number, true]],
    (number) => ['eth_getBlockReceipts', [number]],
    (number) => ['eth_getLogs', [{ fromBlock: '0x3', toBlock: number }]],
  ],
  witnesses: [(number) => ['debug_executionWitness', [number]]],
}

/** Sends the requests of a turn, several at once. @returns the answers; undefined: the node ended the connection */
async function runTurn(node: BoundedNode, kinds: readonly ((number: string) => Request)[]): Promise<readonly (Answer | undefined)[]> {
  const answers: (Answer | undefined)[] = []
  let sent = 0
  const asker = async (): Promise<void> => {
    for (let at = sent++; at < requestsPerTurn; at = sent++) {
      const number = firstFull + (at % (blocksBefore - firstFull))
      const request = kinds[at % kinds.length]?.(`0x${number.toString(16)}`)
      if (request) answers.push(await node.ask(...request).catch(() => undefined))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, asker))
  return answers
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

it.runIf(process.platform === 'linux')(
  'process/memoryMax: a loaded node has at most 1.1 of --memory-max, refuses with −32009, takes every block, and answers all again afterwards',
  async () => {
    await using node = await startNode()
    await insert(node, 0, blocksBefore)
    let peakBytes = 0
    const sampling = new AbortController()
    const sampler = (async (): Promise<void> => {
      for (; !sampling.signal.aborted; await delay(20)) peakBytes = Math.max(peakBytes, node.anonymousBytes())
    })()
    const traced: Request = ['debug_traceBlockByNumber', ['0x3', {}]]
    const untilAnswered = async (): Promise<string> => {
      for (let tries = 0; ; tries++, await delay(500)) {
        const { text, code } = await node.ask(...traced)
        if (code === undefined) return digest(text)
        if (tries === 120) throw new Error(`refused for a minute, at ${node.anonymousBytes()} of ${maxBytes} bytes: ${text}`)
      }
    }
    const before = await untilAnswered()
    const answers: (Answer | undefined)[] = []
    let next = blocksBefore
    for (let round = 0; round < rounds; round++) {
      for (const kinds of Object.values(turns)) {
        const [made] = await Promise.all([runTurn(node, kinds), insert(node, next, next + 1)])
        answers.push(...made)
        next++
      }
    }
    expect(await untilAnswered()).toBe(before)
    sampling.abort()
    await sampler
    const refused = answers.filter((answer) => answer?.code !== undefined)
    expect(peakBytes / maxBytes).toBeLessThanOrEqual(1.1)
    expect(new Set(refused.map((answer) => answer?.code))).toEqual(new Set([-32009]))
    expect(refused.some((answer) => answer?.limit === 'memory')).toBe(true)
    expect(answers.filter((answer) => answer !== undefined && answer.code === undefined).length).toBeGreaterThan(0)
    expect((await node.engine.heads()).unsafe.number).toBe(payloads[next - 1]?.blockNumber)
    // the answer of a trace may bring it back for a moment
    await expect.poll(() => node.metric('basalt_memory_pressure_state'), { timeout: 60_000, interval: 500 }).toBe(0)
  },
  600_000,
)
