import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { bytesFromBigint } from '#lib/bytes'
import type { Clock } from '#lib/clock'
import { type Fault, isFault } from '#lib/fault'
import { toHex, toQuantity } from '#lib/hex'
import type { Fetch } from '#lib/jsonHttp'
import type { BlockId } from '#types/blockRef'
import { hashField, numberField, objectOf } from '#types/jsonShape'
import { devnetFault } from './faults.ts'
import { anvilBinary } from './l1/anvilBinary.ts'
import { keptGenesisTime, scratchFolder, stateFile } from './l1/anvilDirectory.ts'
import { warmUpTransaction } from './l1/anvilWarmUp.ts'
import { askRpc, createDevnetRpc } from './l1/devnetRpc.ts'
import { type GuardedChild, startGuarded } from './l1/guardedChild.ts'
import type { Funded } from './l1/memoryState.ts'
import type { L1Contract } from './l1Contracts.ts'
import type { DevnetL1 } from './ports.ts'

export type AnvilL1Deps = { readonly fetch: Fetch; readonly clock: Clock }

export type AnvilL1Options = {
  readonly chainId: number
  /** of a new chain; one that is kept has its own */
  readonly genesisTimeSec: number
  readonly slotSec: number
  readonly accounts: readonly Funded[]
  readonly contracts: readonly L1Contract[]
  /** default: any free port */
  readonly port?: number
  /** where the chain is kept; absent: nowhere */
  readonly datadir?: string
  /** where anvil may leave things, emptied at the start; default: a folder in `datadir`, else one of anvil's own under the user's home */
  readonly scratch?: string
  /** Blobs are to come: anvil sets up what it checks them with, seconds and 100 MB, before the first. */
  readonly expectsBlobs?: boolean
  /** default: the one that npm brought */
  readonly binary?: string
}

type Head = BlockId & { readonly timestamp: number }
type Call = (method: string, params: readonly unknown[]) => Promise<unknown>

/** seconds between two times that the whole chain is written to its file; at its end anvil writes it too */
const saveEverySec = 10
/** Blocks whose state anvil keeps: as many can be replaced at most. */
const keptStates = 256
const startMs = 15_000
const lookEveryMs = 10
const breakMs = 200
/** A start has more urgent things to do. */
const warmUpMs = 2_000

/**
 * @param wanted 0: any
 * @throws Fault DEVNET_L1_PORT (fatal) when somebody has it: who answers there would be taken for ours
 */
async function freePort(wanted: number): Promise<number> {
  const server = createServer()
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(wanted, '127.0.0.1', resolve))
  } catch (error) {
    throw devnetFault('DEVNET_L1_PORT', { port: wanted }, error)
  }
  const address = server.address()
  await new Promise<void>((resolve) => server.close(() => resolve()))
  if (address === null || typeof address === 'string') throw new RangeError('a TCP server has a port')
  return address.port
}

function argumentsOf(options: AnvilL1Options, port: number): readonly string[] {
  const args: Readonly<Record<string, string | number>> = {
    host: '127.0.0.1',
    port,
    'chain-id': options.chainId,
    timestamp: options.genesisTimeSec,
    accounts: 0,
    'slots-in-an-epoch': 2,
    hardfork: 'prague',
    'prune-history': keptStates,
    ...(options.scratch !== undefined && { 'cache-path': options.scratch }),
    ...(options.datadir !== undefined && { state: join(options.datadir, stateFile), 'state-interval': saveEverySec }),
  }
  const named = Object.entries(args).flatMap(([name, value]) => [`--${name}`, String(value)])
  return ['--quiet', '--no-mining', '--no-cors', '--no-request-size-limit', ...named]
}

/** Why anvil ended before it served, by what it wrote. */
function startFault(options: AnvilL1Options, port: number, said: string): Fault {
  const [line = ''] = said.split('\n').filter((each) => /error/i.test(each))
  if (/address already in use/i.test(said)) return devnetFault('DEVNET_L1_PORT', { port })
  if (options.datadir !== undefined && /--state|parse json/i.test(said)) {
    const reason = line.replace(/^.*parse json file:\s*("[^"]*":\s*)?/, '')
    return devnetFault('DEVNET_L1_STATE', { path: join(options.datadir, stateFile), reason })
  }
  return devnetFault('DEVNET_L1_START', { reason: line === '' ? 'it says nothing' : line })
}

/** Waits until anvil serves. @throws Fault when it does not, or ends before */
async function untilReady(deps: AnvilL1Deps, child: GuardedChild, url: string, failed: (said: string) => Fault): Promise<void> {
  const untilMs = deps.clock.elapsedMs() + startMs
  let said: string | undefined
  void child.ended.then((text) => {
    said = text
  })
  for (;;) {
    const outcome = await Promise.race([askRpc(deps, url, 'eth_chainId', []), child.ended])
    if (said !== undefined) throw failed(said)
    if (typeof outcome !== 'string' && outcome.kind === 'result') return
    if (deps.clock.elapsedMs() > untilMs) throw devnetFault('DEVNET_L1_START', { reason: `no answer within ${startMs / 1_000} s` })
    await Promise.race([deps.clock.delay(lookEveryMs), child.ended])
  }
}

async function headOf(call: Call, at: string): Promise<Head> {
  const json = objectOf(await call('eth_getBlockByNumber', [at, false]), 'block')
  return { hash: hashField(json, 'hash'), number: numberField(json, 'number'), timestamp: numberField(json, 'timestamp') }
}

/** What a genesis file would say: anvil takes none beside a state file. */
async function placeGenesis(call: Call, { accounts, contracts }: AnvilL1Options): Promise<void> {
  for (const { address, balanceWei } of accounts) await call('anvil_setBalance', [address, toQuantity(balanceWei)])
  for (const { address, code, storage } of contracts) {
    await call('anvil_setCode', [address, toHex(code)])
    await call('anvil_setNonce', [address, '0x1'])
    for (const [slot, value] of storage) await call('anvil_setStorageAt', [address, slot, value])
  }
}

/** One after the other: a block and a reorg never meet. */
function inTurn(): <T>(run: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (run) => {
    const next = last.then(run, run)
    last = next.catch(() => {})
    return next
  }
}

async function spawnAnvil(deps: AnvilL1Deps, options: AnvilL1Options): Promise<{ child: GuardedChild; url: string }> {
  const port = await freePort(options.port ?? 0)
  const child = await startGuarded(deps.clock, options.binary ?? anvilBinary(), argumentsOf(options, port))
  const url = `http://127.0.0.1:${port}`
  try {
    await untilReady(deps, child, url, (said) => startFault(options, port, said))
    return { child, url }
  } catch (error) {
    await child[Symbol.asyncDispose]()
    throw error
  }
}

const keptOptions = (asked: AnvilL1Options, datadir: string): AnvilL1Options => ({
  scratch: join(datadir, scratchFolder),
  ...asked,
  genesisTimeSec: keptGenesisTime(datadir, asked),
})

/**
 * An L1 by anvil, a process of its own on loopback, which ends with this one however it ends. With `datadir` the chain goes on where it stopped.
 * @throws Fault DEVNET_L1_MISSING, DEVNET_L1_PORT, DEVNET_L1_STATE, DEVNET_L1_START (fatal)
 */
export async function startAnvilL1(deps: AnvilL1Deps, asked: AnvilL1Options): Promise<DevnetL1> {
  const options = asked.datadir === undefined ? asked : keptOptions(asked, asked.datadir)
  if (options.scratch !== undefined) rmSync(options.scratch, { recursive: true, force: true })
  const { slotSec, chainId, expectsBlobs = false } = options
  await using parts = new AsyncDisposableStack()
  const { child, url } = await spawnAnvil(deps, options)
  parts.use(child)
  const ask = createDevnetRpc(deps, url)
  let end: Fault | undefined
  let isStopping = false
  const ended = child.ended.then((said) => {
    end = devnetFault('DEVNET_L1_ENDED', { reason: said.split('\n').at(-1) ?? '' })
    return isStopping ? new Promise<never>(() => {}) : end
  })
  const call: Call = async (method, params) => {
    if (end) throw end
    try {
      return await ask(method, params)
    } catch (error) {
      // a connection that breaks is known sooner than the end of the process
      if (isFault(error, 'DEVNET_L1_SILENT')) await Promise.race([child.ended, deps.clock.delay(breakMs)])
      throw end ?? error
    }
  }
  await call('anvil_setBlockTimestampInterval', [slotSec])
  const genesis = await headOf(call, '0x0')
  const from = await headOf(call, 'latest')
  if (from.number === 0) await placeGenesis(call, options)
  // of a chain that was kept anvil knows the blocks, and not what time it was
  else await call('evm_setNextBlockTimestamp', [from.timestamp + slotSec])
  const warmUp = (): void => void call('eth_sendRawTransaction', [warmUpTransaction(chainId)]).catch(() => {})
  if (expectsBlobs) parts.use(deps.clock.after(warmUpMs, warmUp))
  const turn = inTurn()
  const kept = parts.move()
  return {
    kind: 'anvil',
    chainId,
    rpcUrl: url,
    beaconUrl: url,
    genesis: { hash: genesis.hash, number: 0 },
    genesisTimeSec: genesis.timestamp,
    slotSec,
    ended,
    head: () => headOf(call, 'latest'),
    mine: () =>
      turn(async () => {
        await call('evm_mine', [])
      }),
    reorg: (depth) =>
      turn(async () => {
        const head = await headOf(call, 'latest')
        const most = Math.min(head.number - from.number, keptStates - 1)
        if (!Number.isSafeInteger(depth) || depth < 1 || depth > most) throw devnetFault('DEVNET_L1_DEPTH', { depth, most })
        // an empty block in the place of an empty one would be the same without it
        await call('anvil_setCoinbase', [toHex(bytesFromBigint(BigInt(head.hash) >> 96n, 20))])
        await call('anvil_reorg', [depth, []])
      }),
    async [Symbol.asyncDispose](): Promise<void> {
      isStopping = true
      await kept.disposeAsync()
    },
  }
}
