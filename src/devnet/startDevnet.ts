import { readFileSync } from 'node:fs'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import type { DevnetFacts } from './control.ts'
import { holdDatadir } from './datadirLock.ts'
import { type DevnetOptions, resolveOptions } from './options.ts'
import type { DevnetAccount, DevnetFaults } from './ports.ts'
import { type DevnetEnd, type RunDeps, runDevnet } from './runDevnet.ts'
import type { DevnetStatus } from './status.ts'

/** Complete OP-Stack chain on this machine: L1, sequencer, batcher, and a verifier that derives all blocks from L1. */
export interface Devnet extends AsyncDisposable {
  /** JSON-RPC of L2 (HTTP and WebSocket), of the rollup node, of L1, of the verifying node, and the control methods */
  readonly urls: DevnetFacts['urls']
  readonly chainId: number
  readonly l1ChainId: number
  /** each with 10,000 ETH on both chains */
  readonly accounts: readonly DevnetAccount[]
  /** may change the system config on L1 */
  readonly owner: DevnetAccount
  /** addresses on L1 */
  readonly contracts: DevnetFacts['contracts']
  readonly facts: DevnetFacts
  readonly faults: DevnetFaults
  status(): DevnetStatus
  /** Resolves when it ends by itself: the nodes disagree, or a part failed. Never rejects. */
  readonly ended: Promise<DevnetEnd>
}

/** Returns the package's version, for a file in `src` or in `dist`. */
function version(): string {
  const file = new URL('../../package.json', import.meta.url)
  return String((JSON.parse(readFileSync(file, 'utf8')) as { version?: unknown }).version)
}

/** Same as `startDevnet`, with another clock, network and log. @throws Fault of the part that cannot start, or of an option (all fatal) */
export async function startDevnetWith(deps: Omit<RunDeps, 'version'>, options: DevnetOptions): Promise<Devnet> {
  await using parts = new AsyncDisposableStack()
  // locked before it is read: an incomplete start is removed, but a start in progress must not be
  if (options.datadir !== undefined) parts.use(holdDatadir(options.datadir))
  const resolved = resolveOptions(options)
  const running = parts.use(await runDevnet({ ...deps, version: version() }, resolved))
  const kept = parts.move()
  const { facts, faults, ended } = running
  return {
    urls: facts.urls,
    chainId: facts.chainId,
    l1ChainId: facts.l1ChainId,
    accounts: resolved.accounts,
    owner: resolved.roles.owner,
    contracts: facts.contracts,
    facts,
    faults,
    status: () => running.status(),
    ended,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/**
 * Starts a devnet: `await using devnet = await startDevnet()`. By default it runs in memory and on free ports.
 * @returns when its RPC responds; the first block follows within a block time
 * @throws Fault of the part that cannot start, or of an option (all fatal), with `code`, `message` and `fix`
 */
export function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  return startDevnetWith({ clock: systemClock, random: Math.random, fetch, log: silentLog }, options)
}
