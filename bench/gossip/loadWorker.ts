// Thread that signs transfers and reports that they are signed. Sends them from the first message on until the second one, when it returns the sent transfers.
import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { type LoadAccount, sendLoad, signLoad } from '../devnet/load.ts'

export type LoadOrder = {
  readonly url: string
  readonly chainId: number
  readonly accounts: readonly LoadAccount[]
  readonly count: number
  readonly perSec: number
}

const { url, chainId, accounts, count, perSec } = workerData as LoadOrder
const parent = parentPort
if (parent === null) throw new Error('not a thread')
const load = signLoad(accounts, chainId, count)
parent.postMessage('signed')
await once(parent, 'message')
const stop = new AbortController()
const sending = sendLoad(url, load, perSec, stop.signal)
await once(parent, 'message')
stop.abort()
const { sent, refused } = await sending
parent.postMessage({ sent, refused })
