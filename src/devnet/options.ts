import type { Retention } from '#types/chainDistance'
import { parseAddress } from '#types/ids'
import { type DevnetRoles, devnetAccounts, testMnemonic } from './accounts.ts'
import { type DataAvailability, dataAvailabilities, maxAccounts } from './choices.ts'
import { agreeWithKept, type FixedOptions, type KeptDevnet, readDevnet } from './datadir.ts'
import { devnetFault } from './faults.ts'
import { beginsWith, forksUpTo, parseForkOffsets } from './forkSchedule.ts'
import type { DevnetAccount } from './ports.ts'

/** Ports on loopback; 0 or absent: any free one. */
export type DevnetPorts = Readonly<
  Partial<Record<'rpc' | 'ws' | 'rollup' | 'l1' | 'verifier' | 'verifierWs' | 'control' | 'flashblocks', number>>
>

export type DevnetOptions = {
  /** `memory`: in this process, starts at once and stores nothing; `anvil`: a separate process. Default: memory, with `datadir` anvil */
  readonly l1?: 'memory' | 'anvil'
  /** default 901 */
  readonly chainId?: number
  /** default 900 */
  readonly l1ChainId?: number
  /** seconds between L2 blocks: 0.2 with Denim, 1 or 2 before it; default 0.2, or 2 with a fork before Denim */
  readonly blockTimeSec?: number
  /** seconds between L1 blocks; default 2 */
  readonly l1BlockTimeSec?: number
  /** number of accounts with 10,000 ETH on both chains; default 10 */
  readonly accounts?: number
  /** default: the well-known `test test … junk` */
  readonly mnemonic?: string
  /** a fork, active from block 1 on with all before it; or seconds after genesis by fork. Default denim, with a block time of 1 or 2 s cobalt */
  readonly fork?: string | Readonly<Record<string, number>>
  /** directory of the chain; default: it is not stored */
  readonly datadir?: string
  readonly ports?: DevnetPorts
  /** form in which batches are posted to L1; `auto`: the cheaper one. Blobs cost proofs and memory of anvil. Default: calldata */
  readonly dataAvailability?: DataAvailability
  /** the sequencer publishes flashblocks of blocks before Denim, and the verifier serves them as pending; default true for a fork before Denim */
  readonly flashblocks?: boolean
  /** older states that the nodes keep; default: all */
  readonly retention?: Retention
  /** verifying nodes, 1 to 8; from two on, they and the sequencer are peers on loopback. Default 1 */
  readonly nodes?: number
}

export type ResolvedOptions = {
  readonly fixed: FixedOptions
  readonly accounts: readonly DevnetAccount[]
  readonly roles: DevnetRoles
  readonly datadir: string | undefined
  /** devnet that the directory contains already */
  readonly kept: KeptDevnet | undefined
  readonly ports: DevnetPorts
  readonly dataAvailability: DataAvailability
  readonly hasFlashblocks: boolean
  readonly retention: Retention | undefined
  readonly nodes: number
}

const optionNames: Readonly<Record<keyof DevnetOptions, true>> = {
  l1: true,
  chainId: true,
  l1ChainId: true,
  blockTimeSec: true,
  l1BlockTimeSec: true,
  accounts: true,
  mnemonic: true,
  fork: true,
  datadir: true,
  ports: true,
  dataAvailability: true,
  flashblocks: true,
  retention: true,
  nodes: true,
}

const defaults = { chainId: 901, l1ChainId: 900, blockTimeSec: 2, slotSec: 2, accounts: 10 } as const
/** Seconds between Denim blocks. */
const denimBlockSec = 0.2
const maxChainId = 2 ** 52
const maxSlotSec = 60
/** Each verifying node executes every block of the devnet. */
const maxNodes = 8

function require(option: string, isRight: boolean, why: string): void {
  if (!isRight) throw devnetFault('OPTION_UNSUPPORTED_HERE', { option, why })
}

function checkNumbers({ chainId, l1ChainId, blockTimeSec, slotSec }: FixedOptions): void {
  for (const [name, id] of [['chain id', chainId] as const, ['chain id of L1', l1ChainId] as const]) {
    require(`the ${name} ${id}`, Number.isSafeInteger(id) &&
      id >= 1 &&
      id <= maxChainId, `it must be a whole number from 1 to ${maxChainId}`)
  }
  require(`the chain id ${chainId}`, chainId !== l1ChainId, 'L1 has the same chain id')
  require(`a block time of ${blockTimeSec} s`, blockTimeSec === 1 || blockTimeSec === 2, 'it must be 1 or 2 s')
  require(`an L1 block time of ${slotSec} s`, Number.isInteger(slotSec) &&
    slotSec >= 1 &&
    slotSec <= maxSlotSec, `it must be 1 to ${maxSlotSec} s`)
}

/** Checks that the requested time between blocks is that of the forks: Denim alone has 200 ms. @param blockTimeSec undefined: not requested */
function checkBlockTime(blockTimeSec: number | undefined, fixed: FixedOptions): void {
  if (blockTimeSec === undefined) return
  const beginsWithDenim = beginsWith(fixed, 'denim')
  if (blockTimeSec === denimBlockSec) require('a block time of 200 ms', beginsWithDenim, 'only Denim has it: --fork denim')
  else
    require(`a block time of ${blockTimeSec} s`, !beginsWithDenim, 'the blocks of Denim are 200 ms apart: choose --fork cobalt, or an earlier one')
}

/** Checks names and values that callers without a type checker may get wrong. */
function checkNames(options: DevnetOptions): void {
  for (const name of Object.keys(options)) require(`the option ${name}`, Object.hasOwn(optionNames, name), 'there is no such option')
  const { l1 = 'memory', dataAvailability = 'calldata' } = options
  require(`the L1 ${l1}`, l1 === 'memory' || l1 === 'anvil', 'it must be memory or anvil')
  require(`data availability by ${dataAvailability}`, dataAvailabilities.includes(dataAvailability), 'it must be calldata, blobs or auto')
}

/** Returns the requested fixed options only. */
function askedOf(options: DevnetOptions, kept: FixedOptions | undefined): Partial<FixedOptions> {
  const { l1, chainId, l1ChainId, l1BlockTimeSec, fork } = options
  const blockTimeSec = options.blockTimeSec === denimBlockSec ? undefined : options.blockTimeSec
  const firstSec = blockTimeSec ?? kept?.blockTimeSec ?? defaults.blockTimeSec
  const forks = typeof fork === 'string' ? forksUpTo(fork, firstSec) : fork === undefined ? undefined : parseForkOffsets(fork)
  return {
    ...(l1 !== undefined && { l1 }),
    ...(chainId !== undefined && { chainId }),
    ...(l1ChainId !== undefined && { l1ChainId }),
    ...(blockTimeSec !== undefined && { blockTimeSec }),
    ...(l1BlockTimeSec !== undefined && { slotSec: l1BlockTimeSec }),
    ...(forks !== undefined && { forks }),
  }
}

/**
 * Resolves the options: requested ones, then those of a stored devnet, then defaults.
 * @throws Fault OTHER_OPTIONS, OPTION_UNSUPPORTED_HERE, BAD_MNEMONIC, UNKNOWN_FORK, BAD_FORK_SCHEDULE, DEVNET_FILE_BAD (all fatal)
 */
export function resolveOptions(options: DevnetOptions): ResolvedOptions {
  checkNames(options)
  const { datadir, ports = {}, dataAvailability = 'calldata', nodes = 1 } = options
  require(`${nodes} nodes`, Number.isInteger(nodes) && nodes >= 1 && nodes <= maxNodes, `it must be 1 to ${maxNodes}`)
  const kept = datadir === undefined ? undefined : readDevnet(datadir)
  const asked = askedOf(options, kept?.options)
  const count = options.accounts ?? kept?.options.accounts.length ?? defaults.accounts
  require(`${count} accounts`, Number.isInteger(count) && count >= 1 && count <= maxAccounts, `it must be 1 to ${maxAccounts}`)
  const { accounts, roles } = devnetAccounts(options.mnemonic ?? testMnemonic, count)
  const blockTimeSec = asked.blockTimeSec ?? defaults.blockTimeSec
  const made: FixedOptions = {
    l1: datadir === undefined ? 'memory' : 'anvil',
    chainId: defaults.chainId,
    l1ChainId: defaults.l1ChainId,
    blockTimeSec,
    slotSec: defaults.slotSec,
    forks: forksUpTo(asked.blockTimeSec === undefined ? 'denim' : 'cobalt', blockTimeSec),
    ...kept?.options,
    ...asked,
    accounts: accounts.map(({ address }) => parseAddress(address)),
    batcher: parseAddress(roles.batcher.address),
    // a devnet that was created before Beryl was known has no admin
    ...((kept === undefined || kept.options.activationAdmin !== undefined) && {
      activationAdmin: parseAddress(roles.activationAdmin.address),
    }),
  }
  if (datadir !== undefined && kept) agreeWithKept(datadir, kept.options, made)
  checkNumbers(made)
  checkBlockTime(options.blockTimeSec, made)
  const hasFlashblocks = options.flashblocks ?? !beginsWith(made, 'denim')
  require('an L1 in memory with a data directory', datadir === undefined || made.l1 === 'anvil', 'it stores nothing on disk')
  return { fixed: made, accounts, roles, datadir, kept, ports, dataAvailability, hasFlashblocks, retention: options.retention, nodes }
}
