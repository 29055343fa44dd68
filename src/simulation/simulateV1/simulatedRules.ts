import type { FeeRules } from '#block/execution/applyTransaction'
import { applySystemCalls } from '#block/execution/systemCalls'
import { childBaseFee } from '#block/fees/baseFee'
import { createOpFees } from '#block/fees/opFees'
import { isActive } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { constantFields } from '#engine/payloadHeader'
import type { EvmSession } from '#evm/ports'
import type { CallRequest } from '#rpc/callPorts'
import type { Header } from '#types/header'
import { emptyRequestsHash, emptyRoot, type Hash, zeroHash } from '#types/ids'
import { bloomBytes } from '#types/log'
import type { Receipt } from '#types/receipt'
import type { SimulatedPlan } from './simulatePlan.ts'

/** Executed transactions of a simulated block. */
export type ExecutedCalls = { readonly raws: readonly Uint8Array[]; readonly receipts: readonly Receipt[] }

/** Rules of simulated blocks that differ between chains. */
export type SimulatedRules = {
  readonly style: 'base' | 'go-ethereum'
  /** Whether receipts contain ether transfer logs. `beside logs`: only the call results do, and their indices include reverted logs. */
  readonly transferLogs: 'as logs' | 'beside logs'
  /** Whether the headers have computed state roots. */
  readonly hasStateRoots: boolean
  /** Gas of a call without a gas field. @param gasLeft gas left in the block @param calls all calls of the block */
  defaultGas(gasLeft: bigint, gasLimit: bigint, calls: readonly CallRequest[]): bigint
  /** Creates the header that the block begins with. @param baseFee wei per gas */
  open(parent: Header, parentHash: Hash, plan: SimulatedPlan, baseFee: bigint): Header
  /** Base fee of a child in wei per gas; undefined when the parent does not determine it */
  childBaseFee(parent: Header, timestamp: number): bigint | undefined
  /** Applies the changes before the first transaction. */
  begin(session: EvmSession, header: Header, parent: Header): void
  /** Returns the fee rules. Call it after `begin`. */
  fees(session: EvmSession, header: Header): FeeRules
  /** Applies the changes after the last transaction. @returns the header fields that result */
  end(session: EvmSession, header: Header, parent: Header, run: ExecutedCalls): Partial<Header>
}

/** Creates a header with the fields that all chains share. Fields that execution computes are empty. */
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

/** Returns an equal share of the gas that the calls with a gas field leave to those without one. */
function equalShare(gasLimit: bigint, calls: readonly CallRequest[]): bigint {
  const named = calls.flatMap(({ gas }) => (gas === undefined ? [] : [gas]))
  const rest = gasLimit - named.reduce((sum, gas) => sum + gas, 0n)
  return rest > 0n ? rest / BigInt(Math.max(1, calls.length - named.length)) : 0n
}

/** Rules for blocks of an OP chain, as Base's execution client simulates them: without L1 attributes and state roots. */
export function opSimulatedRules(config: RollupConfig): SimulatedRules {
  const { schedule } = config
  return {
    style: 'base',
    transferLogs: 'as logs',
    hasStateRoots: false,
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
