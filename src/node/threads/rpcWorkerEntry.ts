// Entry of an RPC thread.
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '#lib/clock'
import { runRpcWorker } from './rpcWorker.ts'
import type { RpcWorkerSettings } from './rpcWorkerProtocol.ts'

if (parentPort === null) throw new RangeError('this file runs in a worker thread only')
await runRpcWorker(parentPort, workerData as RpcWorkerSettings, systemClock)
