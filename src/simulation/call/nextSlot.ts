import type { ParentBlock } from '#block/execution/executeBlock'
import { childBaseFee } from '#block/fees/baseFee'
import type { ExecutionView } from '#blockchain/view/chainView'
import { baseTimeAddress } from '#chainspec/addresses'
import { millisPartOf, timestampOf } from '#chainspec/blockTime'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { StateView } from '#evm/ports'
import { bigintFromBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { CallPlace } from '#rpc/callPorts'
import { createLayer } from '#state/stateLayer'
import { viewAbove } from '#state/stateStack'
import { zeroHash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import { overrideDiff } from './overriddenView.ts'

const baseTimeKey = keccak256(fromHex(baseTimeAddress))
const baseTimeSlotKey = keccak256(fromHex(zeroHash))
/** Number of values of the uint16 in the low bytes of BaseTime's slot 0. */
const partValues = 1n << 16n

/** Returns the diff of a block's BaseTime deposit: the milliseconds in slot 0; undefined when it changes nothing or the chain has no BaseTime. */
export function baseTimeDiff(view: StateView, millisPart: number): StateDiff | undefined {
  if (view.account(baseTimeKey) === undefined) return undefined
  const word = bigintFromBytes(view.slot(baseTimeKey, baseTimeSlotKey) ?? new Uint8Array(0))
  const after = word - (word % partValues) + BigInt(millisPart)
  if (after === word) return undefined
  return overrideDiff(view, new Map([[baseTimeAddress, { stateDiff: new Map([[zeroHash, after]]) }]]))
}

/** Returns a state with the milliseconds that a block's BaseTime deposit sets. */
export function withMillisPart(view: StateView, millisPart: number): StateView {
  const diff = baseTimeDiff(view, millisPart)
  return diff === undefined ? view : viewAbove(view, [createLayer({ diff })])
}

/** Returns the slot after a block as far as it is known: number, time and base fee of the next block, on the state after the block. */
function nextSlot(config: RollupConfig, { header, hash, state }: ParentBlock): ParentBlock {
  const number = header.number + 1
  const timestamp = timestampOf(config, number)
  const baseFeePerGas = childBaseFee(config, header, timestamp) ?? header.baseFeePerGas
  const next = { ...header, number, timestamp, parentHash: hash, ...(baseFeePerGas !== undefined && { baseFeePerGas }) }
  return { header: next, hash, state: { ...state, view: withMillisPart(state.view, millisPartOf(config, number)) } }
}

/** Next slots by the block below. The interpreter caches reads by the state object, so calls in one slot share it. */
const nextSlots = new WeakMap<ParentBlock, ParentBlock>()

/** Returns the block or slot that messages run at; undefined when its state is not retained. */
export function placeOf(view: ExecutionView, config: RollupConfig, at: CallPlace): ParentBlock | undefined {
  const block = view.parent(at.hash)
  if (block === undefined || !at.isNextSlot) return block
  const next = nextSlots.get(block) ?? nextSlot(config, block)
  nextSlots.set(block, next)
  return next
}
