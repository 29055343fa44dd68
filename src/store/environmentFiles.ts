import { join } from 'node:path'

/** Returns the path of lmdb's file of tables in a directory. */
export const dataFile = (dir: string): string => join(dir, 'data.mdb')
/** Returns the path of lmdb's file of readers and of the writer's lock. */
export const lockFile = (dir: string): string => join(dir, 'lock.mdb')
