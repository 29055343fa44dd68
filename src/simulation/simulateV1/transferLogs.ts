import type { FrameEnd, FrameStart, TraceListener, TraceLog } from '#evm/traceEvents'
import { bytesFromBigint } from '#lib/bytes'
import { type Address, type Hash, parseAddress, parseHash } from '#types/ids'
import type { Log } from '#types/log'

/** Who is said to have logged the move of wei. */
const etherAddress = parseAddress(`0x${'ee'.repeat(20)}`)
/** keccak of Transfer(address,address,uint256) */
const transferTopic = parseHash('0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef')

const topicOf = (address: Address): Hash => `0x${address.slice(2).padStart(64, '0')}` as Hash

/** The log of wei that moves. */
export function transferLog(from: Address, to: Address, wei: bigint): Log {
  return { address: etherAddress, topics: [transferTopic, topicOf(from), topicOf(to)], data: bytesFromBigint(wei, 32) }
}

/** Whether a log is one of those. */
export const isTransferLog = ({ address }: Log): boolean => address === etherAddress

/** A log, and how many were told in the block before it, those of frames that failed counted too. */
export type NotifiedLog = { readonly log: Log; readonly told: number }

/** Logs of a message with a log for each move of wei, in the order of execution; those of frames that failed are gone. */
export class TransferLogs implements TraceListener {
  readonly needs: TraceListener['needs'] = { frames: true, logs: true, accounts: false, steps: undefined }
  /** of the open frames, outermost first; the last of them all is the message's when it has ended */
  #open: NotifiedLog[][] = [[]]
  #told = 0

  /** The logs of the message that has ended, which are forgotten then. */
  take(): readonly NotifiedLog[] {
    const [logs = []] = this.#open
    this.#open = [[]]
    return logs
  }

  onEnter({ kind, from, to, value }: FrameStart): void {
    this.#open.push([])
    if (kind === 'DELEGATECALL' || value === undefined || value === 0n) return
    this.#tell(transferLog(from, to, value))
  }

  onLeave({ end }: FrameEnd): void {
    const logs = this.#open.pop() ?? []
    if (end === 'success') this.#open.at(-1)?.push(...logs)
  }

  onLog({ address, topics, data }: TraceLog): void {
    this.#tell({ address, topics, data: data.slice() })
  }

  #tell(log: Log): void {
    this.#open.at(-1)?.push({ log, told: this.#told++ })
  }

  onStep(): void {}
  onAccount(): void {}
}
