// Entry of the health thread, which serves `/healthz` and `/readyz`.
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '#lib/clock'
import { type HealthSettings, runHealthThread } from './healthThread.ts'

if (parentPort === null) throw new RangeError('this file runs in a worker thread only')
await runHealthThread(parentPort, workerData as HealthSettings, systemClock)
