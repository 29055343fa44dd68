import type { Bucket } from '../rateTable.ts'
import type { AnswerShare } from './unread.ts'

/** Who sent a body; once he is gone, what can stop stops and nothing more of a batch is begun. */
export type Caller = {
  readonly isGone: boolean
  /** counts what is made for him */
  readonly share: Pick<AnswerShare, 'add' | 'keep' | 'takeKept'>
  /** his calls are paid out of it; absent: there is no such limit */
  readonly bucket?: Bucket | undefined
  readonly tally: Tally
}

/** How many calls of a body were refused because somebody's rate limit was met, and how many not. */
export type Tally = { answered: number; overRate: number; retryAfterMs: number }

export const emptyTally = (): Tally => ({ answered: 0, overRate: 0, retryAfterMs: 0 })

/** Whoever asks by one body and waits as long as its share is held. A class: a getter in an object literal is dear for each request. */
export class ShareCaller implements Caller {
  readonly share: AnswerShare
  readonly bucket: Bucket | undefined
  readonly tally = emptyTally()

  constructor(share: AnswerShare, bucket?: Bucket) {
    this.share = share
    this.bucket = bucket
  }

  get isGone(): boolean {
    return this.share.isGone
  }
}
