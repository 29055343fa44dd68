import type { FrameEnd, FrameStart, TraceListener, TraceLog } from '#evm/traceEvents'
import { bytesFromBigint } from '#lib/bytes'
import { type Address, type Hash, parseAddress, parseHash } from '#types/ids'
import type { Log } from '#types/log'

/** Address that logs of ether transfers name as their emitter. */
const etherAddress = parseAddress(`0x${'ee'.repeat(20)}`)
/** Hash of the event signature Transfer(address,address,uint256). */
const transferTopic = parseHash('0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef')

const topicOf = (address: Address): Hash => `0x${address.slice(2).padStart(64, '0')}` as Hash

/** Returns the log of an ether transfer. */
function transferLog(from: Address, to: Address, wei: bigint): Log {
  return { address: etherAddress, topics: [transferTopic, topicOf(from), topicOf(to)], data: bytesFromBigint(wei, 32) }
}

/** Whether a log is an ether transfer log. */
export const isTransferLog = ({ address }: Log): boolean => address === etherAddress

/** A log, and the number of logs before it in the block, including those of reverted frames. */
export type IndexedLog = { readonly log: Log; readonly index: number }

/** Collects a message's logs, with a log for each ether transfer, in order of execution. Logs of reverted frames are removed. */
export class TransferLogs implements TraceListener {
  readonly needs: TraceListener['needs'] = { frames: true, logs: true, accounts: false, steps: undefined }
  /** logs of the open frames, outermost first; after the message, the first holds its logs */
  #open: IndexedLog[][] = [[]]
  #count = 0

  /** Returns and clears the logs of the message that has ended. */
  take(): readonly IndexedLog[] {
    const [logs = []] = this.#open
    this.#open = [[]]
    return logs
  }

  onEnter({ kind, from, to, value }: FrameStart): void {
    this.#open.push([])
    if (kind === 'DELEGATECALL' || value === undefined || value === 0n) return
    this.#add(transferLog(from, to, value))
  }

  onLeave({ end }: FrameEnd): void {
    const logs = this.#open.pop() ?? []
    if (end !== 'success') return
    // one by one: there may be more than a call takes arguments
    for (const log of logs) this.#open.at(-1)?.push(log)
  }

  onLog({ address, topics, data }: TraceLog): void {
    this.#add({ address, topics, data: data.slice() })
  }

  #add(log: Log): void {
    this.#open.at(-1)?.push({ log, index: this.#count++ })
  }

  onStep(): void {}
  onAccount(): void {}
  onNativeAccess(): void {}
}
