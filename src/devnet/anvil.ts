import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { bytesFromBigint } from '#lib/bytes'
import type { Clock } from '#lib/clock'
import { type Fault, isFault } from '#lib/fault'
import { toHex, toQuantity } from '#lib/hex'
import type { Fetch } from '#lib/jsonHttp'
import type { Log } from '#lib/log'
import type { BlockId } from '#types/blockRef'
import { hashField, numberField, objectOf } from '#types/jsonShape'
import { devnetFault } from './faults.ts'
import { anvilBinary } from './l1/anvilBinary.ts'
import { keptGenesisTime, scratchFolder, stateFile } from './l1/anvilDirectory.ts'
import { warmUpTransaction } from './l1/anvilWarmUp.ts'
import { askRpc, createDevnetRpc } from './l1/devnetRpc.ts'
import { type GuardedChild, startGuarded } from './l1/guardedChild.ts'
import { keepLastState, restoreLastState } from './l1/lastState.ts'
import type { Funded } from './l1/memoryState.ts'
import type { L1Contract } from './l1Contracts.ts'
import type { DevnetL1 } from './ports.ts'

/** `log`: default: none */
export type AnvilL1Deps = { readonly fetch: Fetch; readonly clock: Clock; readonly log?: Log }

export type AnvilL1Options = {
  readonly chainId: number
  /** of a new chain; a stored chain has its own */
  readonly genesisTimeSec: number
  readonly slotSec: number
  readonly accounts: readonly Funded[]
  readonly contracts: readonly L1Contract[]
  /** default: any free port */
  readonly port?: number
  /** directory of the chain; absent: it is not stored */
  readonly datadir?: string
  /** folder for anvil's temporary files, emptied at the start; default: a folder in `datadir`, else anvil's own under the user's home */
  readonly scratch?: string
  /** Prepares anvil's KZG setup before the first blob, which takes seconds and 100 MB. */
  readonly expectsBlobs?: boolean
  /** default: prague */
  readonly hardfork?: 'cancun' | 'prague'
  /** default: npm's anvil */
  readonly binary?: string
  /** whole seconds that anvil has to end and to save its chain, before it is killed; default 5, or 120 with `datadir` */
  readonly stopSec?: number
}

type Head = BlockId & { readonly timestamp: number }
type Call = (method: string, params: readonly unknown[]) => Promise<unknown>

/** seconds between two writes of the whole chain to its file; anvil also writes it at its end */
const saveEverySec = 10
/** Number of blocks whose state anvil keeps, which limits the depth of a reorg. */
const keptStates = 256
const startSec = 15
/** Loading a large state takes longer than saving it. */
const keptStartSec = 120
const stopSec = 5
/** A state of 660 MB takes nine seconds to save on a fast machine. */
const keptStopSec = 120
const lookEveryMs = 10
const breakMs = 200
/** Delay of the KZG setup, so that it does not slow the start down. */
const warmUpMs = 2_000

/**
 * Returns a free port.
 * @param wanted 0: any
 * @throws Fault DEVNET_L1_PORT (fatal) when the port is in use, because its owner would be mistaken for anvil
 */
async function freePort(wanted: number): Promise<number> {
  const server = createServer()
  try {
    await once(server.listen(wanted, '127.0.0.1'), 'listening')
  } catch (error) {
    throw devnetFault('DEVNET_L1_PORT', { port: wanted }, error)
  }
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}

function argumentsOf(options: AnvilL1Options, port: number): readonly string[] {
  const args: Readonly<Record<string, string | number>> = {
    host: '127.0.0.1',
    port,
    'chain-id': options.chainId,
    timestamp: options.genesisTimeSec,
    accounts: 0,
    'slots-in-an-epoch': 2,
    hardfork: options.hardfork ?? 'prague',
    'prune-history': keptStates,
    ...(options.scratch !== undefined && { 'cache-path': options.scratch }),
    ...(options.datadir !== undefined && { state: join(options.datadir, stateFile), 'state-interval': saveEverySec }),
  }
  const named = Object.entries(args).flatMap(([name, value]) => [`--${name}`, String(value)])
  return ['--quiet', '--no-mining', '--no-cors', '--no-request-size-limit', ...named]
}

/** Returns the fault for anvil's early end, from its output. */
function startFault(options: AnvilL1Options, port: number, said: string): Fault {
  const [line = ''] = said.split('\n').filter((each) => /error/i.test(each))
  if (/address already in use/i.test(said)) return devnetFault('DEVNET_L1_PORT', { port })
  if (options.datadir !== undefined && /--state|parse json/i.test(said)) {
    const reason = line.replace(/^.*parse json file:\s*("[^"]*":\s*)?/, '')
    return devnetFault('DEVNET_L1_STATE', { path: join(options.datadir, stateFile), reason })
  }
  return devnetFault('DEVNET_L1_START', { reason: line === '' ? 'no output' : line })
}

/** Waits until anvil responds. @throws Fault when it does not, or ends before */
async function untilReady(deps: AnvilL1Deps, options: AnvilL1Options, child: GuardedChild, url: string): Promise<void> {
  const limitSec = options.datadir === undefined ? startSec : keptStartSec
  const untilMs = deps.clock.elapsedMs() + limitSec * 1_000
  let said: string | undefined
  void child.ended.then((text) => {
    said = text
  })
  for (;;) {
    const outcome = await Promise.race([askRpc(deps, url, 'eth_chainId', []), child.ended])
    if (said !== undefined) throw startFault(options, Number(new URL(url).port), said)
    if (typeof outcome !== 'string' && outcome.kind === 'result') return
    if (deps.clock.elapsedMs() > untilMs) throw devnetFault('DEVNET_L1_START', { reason: `no response within ${limitSec} s` })
    await Promise.race([deps.clock.delay(lookEveryMs), child.ended])
  }
}

async function headOf(call: Call, at: string): Promise<Head> {
  const json = objectOf(await call('eth_getBlockByNumber', [at, false]), 'block')
  return { hash: hashField(json, 'hash'), number: numberField(json, 'number'), timestamp: numberField(json, 'timestamp') }
}

/** Sets accounts and contracts of genesis by RPC: anvil does not accept a genesis file together with a state file. */
async function placeGenesis(call: Call, { accounts, contracts }: AnvilL1Options): Promise<void> {
  for (const { address, balanceWei } of accounts) await call('anvil_setBalance', [address, toQuantity(balanceWei)])
  for (const { address, code, storage } of contracts) {
    await call('anvil_setCode', [address, toHex(code)])
    await call('anvil_setNonce', [address, '0x1'])
    for (const [slot, value] of storage) await call('anvil_setStorageAt', [address, slot, value])
  }
}

/** Returns a function that runs tasks one after the other, so that a new block and a reorg never overlap. */
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
  const child = await startGuarded(deps.clock, options.binary ?? anvilBinary(), argumentsOf(options, port), options.stopSec ?? stopSec)
  const url = `http://127.0.0.1:${port}`
  try {
    await untilReady(deps, options, child, url)
    return { child, url }
  } catch (error) {
    await child[Symbol.asyncDispose]()
    throw error
  }
}

/** Starts anvil with the stored state; with the last complete one when that cannot be loaded. */
async function spawnKept(deps: AnvilL1Deps, options: AnvilL1Options): Promise<{ child: GuardedChild; url: string }> {
  try {
    return await spawnAnvil(deps, options)
  } catch (error) {
    const { datadir } = options
    if (datadir === undefined || !isFault(error, 'DEVNET_L1_STATE') || !(await restoreLastState(datadir))) throw error
    deps.log?.error('state of L1 is incomplete, continuing from the save before it', { error })
    return await spawnAnvil(deps, options)
  }
}

const keptOptions = (asked: AnvilL1Options, datadir: string): AnvilL1Options => ({
  scratch: join(datadir, scratchFolder),
  stopSec: keptStopSec,
  ...asked,
  genesisTimeSec: keptGenesisTime(datadir, asked),
})

/**
 * Starts anvil as the L1: a process on loopback that ends with this process, however that ends. With `datadir` the stored chain continues.
 * @throws Fault DEVNET_L1_MISSING, DEVNET_L1_PORT, DEVNET_L1_STATE, DEVNET_L1_START (fatal)
 */
export async function startAnvilL1(deps: AnvilL1Deps, asked: AnvilL1Options): Promise<DevnetL1> {
  const options = asked.datadir === undefined ? asked : keptOptions(asked, asked.datadir)
  if (options.scratch !== undefined) rmSync(options.scratch, { recursive: true, force: true })
  const { slotSec, chainId, expectsBlobs = false } = options
  await using parts = new AsyncDisposableStack()
  const { child, url } = await spawnKept(deps, options)
  parts.use(child)
  const saves = options.datadir === undefined ? undefined : parts.use(keepLastState(deps.clock, options.datadir))
  const ask = createDevnetRpc(deps, url)
  let end: Fault | undefined
  let isStopping = false
  const ended = child.ended.then((said) => {
    void saves?.[Symbol.asyncDispose]()
    end = devnetFault('DEVNET_L1_ENDED', { reason: said.split('\n').at(-1) ?? '' })
    return isStopping ? new Promise<never>(() => {}) : end
  })
  const call: Call = async (method, params) => {
    if (end) throw end
    try {
      return await ask(method, params)
    } catch (error) {
      // a broken connection is detected sooner than the end of the process
      if (isFault(error, 'DEVNET_L1_SILENT')) await Promise.race([child.ended, deps.clock.delay(breakMs)])
      throw end ?? error
    }
  }
  await call('anvil_setBlockTimestampInterval', [slotSec])
  const genesis = await headOf(call, '0x0')
  const from = await headOf(call, 'latest')
  if (from.number === 0) await placeGenesis(call, options)
  // anvil restores the blocks of a stored chain, but not its time
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
        // without another coinbase, an empty block would be replaced by an equal one
        await call('anvil_setCoinbase', [toHex(bytesFromBigint(BigInt(head.hash) >> 96n, 20))])
        await call('anvil_reorg', [depth, []])
      }),
    async [Symbol.asyncDispose](): Promise<void> {
      isStopping = true
      await kept.disposeAsync()
    },
  }
}
