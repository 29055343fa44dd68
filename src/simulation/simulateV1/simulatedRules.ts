import type { FeeRules } from '#block/execution/applyTransaction'
import type { ParentBlock } from '#block/execution/executeBlock'
import { applySystemCalls } from '#block/execution/systemCalls'
import { childBaseFee } from '#block/fees/baseFee'
import { createOpFees } from '#block/fees/opFees'
import { isActive } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { constantFields } from '#engine/payloadHeader'
import type { EvmSession, StateView } from '#evm/ports'
import type { CallRequest } from '#rpc/callPorts'
import type { Header } from '#types/header'
import { emptyRequestsHash, emptyRoot, type Hash, zeroHash } from '#types/ids'
import { bloomBytes } from '#types/log'
import type { Receipt } from '#types/receipt'
import type { StateDiff } from '#types/stateDiff'
import { viewAbove } from '../call/overriddenView.ts'
import type { SimulatedPlan } from './simulatePlan.ts'

/** States one above the other. */
export interface SimulatedStates {
  readonly view: StateView
  add(diff: StateDiff): void
  /** What a header says of it. */
  readonly root: Hash
}

/** A block's transactions as they ran. */
export type SimulatedRun = { readonly raws: readonly Uint8Array[]; readonly receipts: readonly Receipt[] }

/** In what simulated blocks differ from chain to chain. */
export type SimulatedRules = {
  readonly style: 'base' | 'go-ethereum'
  /** Whether a log of wei that moves stands in the receipt, or only beside the logs that do, numbered with those that were lost. */
  readonly transferLogs: 'as logs' | 'beside logs'
  createStates(at: ParentBlock): SimulatedStates
  /** Gas of a call that names none. @param gasLeft of the block @param calls of the block, all of them */
  defaultGas(gasLeft: bigint, gasLimit: bigint, calls: readonly CallRequest[]): bigint
  /** The header that the block begins with. @param baseFee wei per gas */
  open(parent: Header, parentHash: Hash, plan: SimulatedPlan, baseFee: bigint): Header
  /** wei per gas of a child; undefined when the parent does not tell */
  childBaseFee(parent: Header, timestamp: number): bigint | undefined
  /** What happens before the first transaction. */
  begin(session: EvmSession, header: Header, parent: Header): void
  /** Who is paid; asked after `begin`. */
  fees(session: EvmSession, header: Header): FeeRules
  /** What happens after the last transaction, and the fields of the header that follow. */
  end(session: EvmSession, header: Header, parent: Header, run: SimulatedRun): Partial<Header>
}

/** What all simulated headers have in common; what follows from running the block stands empty. */
export function openHeader(parent: Header, parentHash: Hash, { block, number, timestamp }: SimulatedPlan, baseFee: bigint): Header {
  return {
    ...constantFields,
    parentHash,
    beneficiary: block.beneficiary ?? parent.beneficiary,
    stateRoot: zeroHash,
    transactionsRoot: emptyRoot,
    receiptsRoot: emptyRoot,
    logsBloom: new Uint8Array(bloomBytes),
    number,
    gasLimit: block.gasLimit ?? parent.gasLimit,
    gasUsed: 0n,
    timestamp,
    extraData: new Uint8Array(0),
    mixHash: block.prevRandao ?? zeroHash,
    baseFeePerGas: baseFee,
  }
}

/** States of which no root is computed. */
class PlainStates implements SimulatedStates {
  view: StateView
  readonly root = zeroHash

  constructor(view: StateView) {
    this.view = view
  }

  add(diff: StateDiff): void {
    this.view = viewAbove(this.view, diff)
  }
}

/** What calls that name no gas get each of the gas that the others leave. */
function equalShare(gasLimit: bigint, calls: readonly CallRequest[]): bigint {
  const named = calls.flatMap(({ gas }) => (gas === undefined ? [] : [gas]))
  const rest = gasLimit - named.reduce((sum, gas) => sum + gas, 0n)
  return rest > 0n ? rest / BigInt(Math.max(1, calls.length - named.length)) : 0n
}

/** Blocks of an OP chain, as Base's execution client simulates them: without L1 attributes, and with no roots of the state. */
export function opSimulatedRules(config: RollupConfig): SimulatedRules {
  const { schedule } = config
  return {
    style: 'base',
    transferLogs: 'as logs',
    createStates: (at) => new PlainStates(at.state.view),
    defaultGas: (_gasLeft, gasLimit, calls) => equalShare(gasLimit, calls),
    childBaseFee: (parent, timestamp) => childBaseFee(config, parent, timestamp),
    open(parent, parentHash, plan, baseFee): Header {
      const { timestamp } = plan
      const isIsthmus = isActive(schedule, 'isthmus', timestamp)
      return {
        ...openHeader(parent, parentHash, plan, baseFee),
        extraData: parent.extraData,
        ...(isActive(schedule, 'canyon', timestamp) && { withdrawalsRoot: isIsthmus ? zeroHash : emptyRoot }),
        ...(isActive(schedule, 'ecotone', timestamp) && {
          blobGasUsed: 0n,
          excessBlobGas: 0n,
          parentBeaconBlockRoot: parent.parentBeaconBlockRoot ?? zeroHash,
        }),
        ...(isIsthmus && { requestsHash: emptyRequestsHash }),
      }
    },
    begin(session, header, parent): void {
      const { timestamp, parentBeaconBlockRoot } = header
      const block = { timestamp, ...(parentBeaconBlockRoot !== undefined && { parentBeaconBlockRoot }) }
      applySystemCalls(session, schedule, { hash: header.parentHash, timestamp: parent.timestamp }, block)
    },
    fees: (session, { timestamp }) => createOpFees(schedule, timestamp, session).rules,
    end(session, header, _parent, { raws }): Partial<Header> {
      if (header.blobGasUsed === undefined) return {}
      const { footprint } = createOpFees(schedule, header.timestamp, session)
      return { blobGasUsed: raws.reduce((sum, raw) => sum + footprint(raw), 0n) }
    },
  }
}
