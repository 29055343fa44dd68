import type { Bucket } from '../limits/rateTable.ts'
import type { AnswerShare } from './unread.ts'

/** The client that sent a body. Once it is gone, cancellable work stops and no further call of a batch starts. */
export type Caller = {
  readonly isGone: boolean
  /** counts the answers made for the client */
  readonly share: Pick<AnswerShare, 'add' | 'keep' | 'takeKept'>
  /** rate-limit bucket that pays for the calls; absent: no limit */
  readonly bucket?: Bucket | undefined
  readonly tally: Tally
  /** the connection; absent: its other end has no address */
  readonly peer?: Peer | undefined
}

/** The other end of a connection. A socket of node is one. */
export type Peer = { readonly remoteAddress?: string | undefined }

/** Number of calls of a body that were refused by a rate limit, and of all others. */
export type Tally = { answered: number; overRate: number; retryAfterMs: number }

export const emptyTally = (): Tally => ({ answered: 0, overRate: 0, retryAfterMs: 0 })

/** The client behind a share, gone when the share is. A class: a getter in an object literal costs too much per request. */
export class ShareCaller implements Caller {
  readonly share: AnswerShare
  readonly bucket: Bucket | undefined
  readonly peer: Peer | undefined
  readonly tally = emptyTally()

  constructor(share: AnswerShare, bucket?: Bucket, peer?: Peer) {
    this.share = share
    this.bucket = bucket
    this.peer = peer
  }

  get isGone(): boolean {
    return this.share.isGone
  }
}
