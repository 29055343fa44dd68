import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { firstDenimBlock, timeOf } from '#chainspec/blockTime'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { type DevnetChain, makeDevnetChain, toChainFiles } from '../../src/devnet/devnetChain.ts'
import { mineOnTime } from '../../src/devnet/l1/miner.ts'
import { portalAddress, systemConfigAddress } from '../../src/devnet/l1Contracts.ts'
import { startL1 } from '../../src/devnet/l1Start.ts'
import { resolveOptions } from '../../src/devnet/options.ts'
import type { DevnetL1 } from '../../src/devnet/ports.ts'
import { freePort } from '../devnet/process.ts'
import { eventually } from '../nodeProcess.ts'
import type { ChildSpec } from './child.ts'
import { type Block, quantity, rpcOf } from './reader.ts'

/** Seconds after genesis; Denim activates between two blocks, so its first block is due at 32 s. */
const fork = { azul: 2, beryl: 4, cobalt: 6, denim: 31 }

/** A node in a process that a test kills and starts again on the same directory and ports. */
class Child {
  readonly url: string
  readonly #spec: ChildSpec
  #child: ChildProcess | undefined

  constructor(spec: ChildSpec) {
    this.#spec = spec
    this.url = `http://127.0.0.1:${spec.role === 'sequencer' ? spec.ports.rpc : spec.ports.verifier}`
  }

  start(): void {
    const args = [join(import.meta.dirname, 'child.ts'), JSON.stringify(this.#spec)]
    this.#child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const closed = once(child, 'close')
    child.kill(signal)
    await closed
  }

  block(at: 'latest' | 'safe' | number): Promise<Block | null> {
    return rpcOf(this.url)('eth_getBlockByNumber', typeof at === 'number' ? quantity(at) : at, false)
  }

  async number(label: 'latest' | 'safe'): Promise<number> {
    return Number((await this.block(label))?.number ?? 0)
  }
}

let parts: AsyncDisposableStack
let l1: DevnetL1
let chain: DevnetChain
let sequencer: Child
let verifier: Child

const untilMs = (ms: number): Promise<void> => delay(Math.max(0, ms - Date.now()))
const firstDenim = (): number => firstDenimBlock(chain.config)
const denimMs = (): number => timeOf(chain.config, firstDenim())

beforeEach(async () => {
  parts = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'basalt-killed-'))
  parts.defer(() => rmSync(folder, { recursive: true, force: true }))
  const options = resolveOptions({ fork, blockTimeSec: 2 })
  const genesisTimeSec = Math.floor(Date.now() / 1_000) - 2
  l1 = parts.use(await startL1({ fetch, clock: systemClock }, options, genesisTimeSec, folder))
  chain = makeDevnetChain(options.fixed, { genesis: l1.genesis, genesisTimeSec, portal: portalAddress, systemConfig: systemConfigAddress })
  const stop = new AbortController()
  const mining = mineOnTime({ clock: systemClock, log: silentLog }, l1, stop.signal)
  parts.defer(async () => {
    stop.abort()
    await mining
  })
  const chainFile = join(folder, 'chain.json')
  writeFileSync(chainFile, JSON.stringify(toChainFiles(chain)))
  const ports = { rpc: await freePort(), ws: await freePort(), verifier: await freePort(), verifierWs: await freePort() }
  const common = { chainFile, l1Url: l1.rpcUrl, slotSec: l1.slotSec, ports, batcher: options.roles.batcher }
  sequencer = new Child({ ...common, role: 'sequencer', datadir: join(folder, 'sequencer') })
  verifier = new Child({ ...common, role: 'verifier', datadir: join(folder, 'verifier') })
  for (const child of [sequencer, verifier]) {
    parts.defer(() => child.end('SIGKILL'))
    child.start()
  }
  await eventually('the sequencer has block 1', 60_000, async () => (await sequencer.number('latest')) > 0)
  expect(Date.now(), 'the nodes started before Denim').toBeLessThan(denimMs() - 4_000)
}, 90_000)

afterEach(() => parts.disposeAsync(), 30_000)

/** Waits until the verifier has derived a block from L1, then compares every block up to it, and its time, on both nodes. */
async function agreeUpTo(target: number): Promise<void> {
  await eventually(`the verifier derives block ${target}`, 120_000, async () => {
    const [safe, latest] = [await verifier.number('safe'), await sequencer.number('latest')]
    return safe >= target || `safe ${safe}, sequenced ${latest}`
  })
  for (let number = 1; number <= target; number++) {
    const [one, other] = [await sequencer.block(number), await verifier.block(number)]
    expect(other, `block ${number}`).toEqual(one)
    expect(Number(one?.timestamp), `time of block ${number}`).toBe(Math.floor(timeOf(chain.config, number) / 1_000))
  }
}

/** Ends a node and starts it again; its newest block before that must still be canonical afterwards. */
async function restart(child: Child, signal: 'SIGKILL' | 'SIGTERM'): Promise<Block> {
  const shown = (await child.block('latest')) ?? expect.fail('no block')
  await child.end(signal)
  child.start()
  await eventually('the node serves its newest block again', 60_000, async () => {
    const found = await child.block(Number(shown.number))
    return found?.hash === shown.hash || `block ${Number(shown.number)} is ${found?.hash}, was ${shown.hash}`
  })
  return shown
}

describe('the boundary of Denim', () => {
  it('a sequencer killed between the first two Denim blocks continues the chain without a missed slot', async () => {
    await untilMs(denimMs())
    await eventually('the first Denim block', 20_000, async () => (await sequencer.number('latest')) >= firstDenim(), 5)
    const shown = await restart(sequencer, 'SIGKILL')
    expect(Number(shown.number) - firstDenim()).toBeLessThan(10)
    await agreeUpTo(firstDenim() + 60)
  }, 240_000)

  it('a verifier killed while it derives the first Denim blocks derives the same chain', async () => {
    await untilMs(denimMs())
    await eventually('the verifier has the boundary', 60_000, async () => (await verifier.number('safe')) >= firstDenim() - 1, 5)
    await restart(verifier, 'SIGKILL')
    await agreeUpTo(firstDenim() + 60)
  }, 240_000)

  it('a sequencer and a verifier restarted in the middle of a second continue the chain', async () => {
    await untilMs(denimMs())
    await eventually('some Denim blocks', 30_000, async () => (await sequencer.number('latest')) >= firstDenim() + 20)
    const nextSecond = (): number => Math.ceil(Date.now() / 1_000) * 1_000
    await untilMs(nextSecond() + 500)
    await restart(verifier, 'SIGTERM')
    await untilMs(nextSecond() + 500)
    await restart(sequencer, 'SIGTERM')
    await agreeUpTo((await sequencer.number('latest')) + 30)
  }, 240_000)

  it('a reorg of L1 across the activation replaces the first Denim blocks, and the nodes agree again', async () => {
    await untilMs(denimMs() + 3_000)
    const before = (await sequencer.block(firstDenim() + 1)) ?? expect.fail('no Denim block')
    const depth = 4
    const head = await l1.head()
    await l1.reorg(depth)
    expect((head.timestamp - depth * l1.slotSec) * 1_000, 'the reorg begins before the activation').toBeLessThan(denimMs())
    await agreeUpTo(firstDenim() + 60)
    const after = await verifier.block(firstDenim() + 1)
    expect(after?.hash).not.toBe(before.hash)
  }, 240_000)
})
