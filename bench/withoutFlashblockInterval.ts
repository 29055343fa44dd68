// Preloaded into a node's threads by commitTiming: commits start without regard to the next flashblock.
import { isMainThread } from 'node:worker_threads'

if (!isMainThread) {
  const { FlashblockInterval } = await import('#block/building/flashblockInterval')
  FlashblockInterval.prototype.waitMs = () => 0
}
