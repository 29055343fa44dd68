// Entry of the segment thread: builds the segment files of one range, then ends.
import { parentPort, workerData } from 'node:worker_threads'
import { buildSegments } from '#blockchain/segments/buildSegments'
import { transferError } from '#lib/errorTransfer'
import { openChainReader } from '#store/chainTables'
import type { FromSegmentThread, SegmentThreadSettings } from './segmentThread.ts'

const { dir, request, ended } = workerData as SegmentThreadSettings
const counters = new Int32Array(ended)

async function answer(): Promise<FromSegmentThread> {
  try {
    await using source = openChainReader(dir)
    return { built: buildSegments(source, request, () => Atomics.load(counters, 0) !== 0) }
  } catch (error) {
    return { error: transferError(error) }
  }
}

parentPort?.postMessage(await answer())
