import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { encodePayload } from '#engine/payloadJson'
import { chainFlags, lastL1, type ProcessChain, safeAfter } from '#test/harness/process/chain'
import { type LabelLie, type ProcessL1, startProcessL1, withLie } from '#test/harness/process/l1'
import { startProxy, type TcpProxy } from '#test/harness/process/proxy'
import { startHttpProxy } from '#test/harness/process/proxyHttp'
import type { Payload } from '#types/payload'
import { compare, expectedLabels, jwtFlags } from '../halves/labels.ts'
import { anyLagSec } from '../halves/setups.ts'
import { type HeadWatch, watchHead } from '../halves/watch.ts'
import { createNodeProcess, type NodeProcess, type NodeSpec, type Served } from '../nodeProcess.ts'

/** Transport of A's heads to B; `none`: there is no B. */
export type Transport = 'http' | 'ws' | 'none'

/** A derives from L1; B, in two processes and without L1, follows A through a proxy. */
export interface World extends AsyncDisposable {
  readonly chain: ProcessChain
  readonly l1: ProcessL1
  readonly a: NodeProcess
  /** @throws Error when there is no B */
  readonly b: { readonly execution: NodeProcess; readonly consensus: NodeProcess }
  readonly hasB: boolean
  /** proxy between B and A */
  readonly link: TcpProxy
  readonly nodes: readonly NodeProcess[]
  readonly watches: readonly HeadWatch[]
  /** Replaces the labels in A's responses to B. */
  lieToB(lie: LabelLie): void
  /** Shifts the wall clock of all nodes. */
  setClock(offsetMs: number): void
  /** Adds a number of L1 blocks, one every 100 ms. */
  reveal(blocks: number): Promise<void>
  /** Number of the first block that L1 has not made safe. */
  readonly nextUnsafe: number
  postUnsafe(to: NodeProcess, payload: Payload): Promise<unknown>
  together(): Promise<true | string>
}

const l1PollMs = 100
const revealEveryMs = 100

const portOf = (url: string): number => Number(new URL(url).port)

export async function createWorld(chain: ProcessChain, folder: string, transport: Transport): Promise<World> {
  await using starting = new AsyncDisposableStack()
  mkdirSync(folder, { recursive: true })
  const l1 = starting.use(await startProcessL1(chain.l1, 0))
  const files = chainFlags(chain, folder)

  const clockFile = join(folder, 'clock')
  const setClock = (offsetMs: number): void => {
    writeFileSync(`${clockFile}.new`, String(offsetMs))
    renameSync(`${clockFile}.new`, clockFile)
  }
  setClock(0)
  const preload = pathToFileURL(join(import.meta.dirname, 'clock.ts')).href
  const env = { FAULTS_CLOCK_FILE: clockFile, NODE_OPTIONS: `--import ${preload}` }
  const node = async (name: string, args: readonly string[], serves: readonly Served[]): Promise<NodeProcess> => {
    const spec: NodeSpec = { name, folder: join(folder, name), args: [...files, ...args], serves, env }
    return starting.use(await createNodeProcess(spec))
  }

  const l1Flags = ['--l1.rpc', `http://127.0.0.1:${l1.rpc.port}`, '--l1.beacon', `http://127.0.0.1:${l1.beacon.port}`]
  const adminFlags = transport === 'none' ? [] : ['--rollup.admin']
  const a = await node(
    'a',
    [...l1Flags, '--l1.poll-interval', String(l1PollMs), ...adminFlags],
    transport === 'ws' ? ['http', 'ws', 'rollup', 'metrics'] : ['http', 'rollup', 'metrics'],
  )

  let told: LabelLie = 'none'
  const liar = starting.use(await startHttpProxy(a.url('http'), (body) => withLie(told, body)))
  const link = starting.use(await startProxy(transport === 'ws' ? portOf(a.url('ws')) : liar.port))
  let b: World['b'] | undefined
  if (transport !== 'none') {
    const jwt = jwtFlags(folder)
    const execution = await node('b-execution', ['--mode', 'execution', ...jwt], ['http', 'engine', 'metrics'])
    const source = `${transport}://127.0.0.1:${link.port}`
    const followFlags = ['--source.l2.rpc', source, '--ready.max-lag', anyLagSec, '--rollup.admin']
    const consensus = await node(
      'b-consensus',
      ['--mode', 'consensus', '--engine', execution.url('engine'), ...jwt, ...followFlags],
      ['rollup', 'metrics'],
    )
    b = { execution, consensus }
  }

  const nodes = b ? [a, b.execution, b.consensus] : [a]
  const watches = nodes.filter(({ proxies }) => proxies.http).map((one) => starting.use(watchHead(one, chain, 'together')))
  const parts = starting.move()
  return {
    chain,
    l1,
    a,
    get b() {
      if (b === undefined) throw new Error('there is no B')
      return b
    },
    hasB: b !== undefined,
    link,
    nodes,
    watches,
    lieToB(lie) {
      told = lie
    },
    setClock,
    async reveal(blocks) {
      const to = Math.min(l1.l1.head + blocks, lastL1(chain))
      while (l1.l1.head < to) {
        l1.l1.reveal(l1.l1.head + 1)
        await new Promise((resolve) => setTimeout(resolve, revealEveryMs))
      }
    },
    get nextUnsafe() {
      return safeAfter(chain, l1.l1.head).number + 1
    },
    postUnsafe(to, payload) {
      const { parentBeaconBlockRoot } = payload
      const envelope = { executionPayload: encodePayload(payload), ...(parentBeaconBlockRoot && { parentBeaconBlockRoot }) }
      return to.rpc('rollup', 'admin_postUnsafePayload', [envelope])
    },
    together: () => compare(nodes, expectedLabels(chain, l1.l1.head)),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}
